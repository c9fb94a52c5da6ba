//! A copy of the working tree, with a target folder of its own. Both stay for the next run;
//! only what differs is copied, so that cargo compiles no more than it must.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

pub(super) struct Tree(PathBuf);

impl Tree {
    /// Makes the copy equal to what git tracks, as it is on disk.
    pub(super) async fn copied() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let root = root.canonicalize()?;
        let list = Command::new("git")
            .args(["ls-files", "-z"])
            .current_dir(&root)
            .output();
        let list = list.await.context("git is needed to know the tree")?;
        ensure!(list.status.success(), "git does not know the tree");
        let list = String::from_utf8(list.stdout)?;
        let tracked: BTreeSet<&Path> = list
            .split_terminator('\0')
            .map(Path::new)
            .filter(|path| root.join(path).is_file())
            .collect();
        let tree = Self(root.join("target/mutants/tree"));
        fs::create_dir_all(&tree.0)?;
        tree.remove_others(&tree.0, &tracked)?;
        for path in tracked {
            let (from, to) = (root.join(path), tree.0.join(path));
            let new = fs::read(&from)?;
            if fs::read(&to).ok().as_ref() != Some(&new) {
                if let Some(folder) = to.parent() {
                    fs::create_dir_all(folder)?;
                }
                fs::write(&to, new)?;
            }
        }
        Ok(tree)
    }

    /// Removes what an earlier run has copied and is tracked no more.
    fn remove_others(&self, folder: &Path, tracked: &BTreeSet<&Path>) -> Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.remove_others(&path, tracked)?;
            } else if !tracked.contains(path.strip_prefix(&self.0)?) {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn target(&self) -> PathBuf {
        self.0.with_file_name("build")
    }

    pub(super) fn read(&self, file: &str) -> Result<String> {
        fs::read_to_string(self.0.join(file)).with_context(|| format!("cannot read {file}"))
    }

    pub(super) fn write(&self, file: &str, text: &str) -> Result<()> {
        fs::write(self.0.join(file), text).with_context(|| format!("cannot write {file}"))
    }
}
