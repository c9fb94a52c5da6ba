//! A folder that goes when we do.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A temporary folder of one's own, removed when dropped.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes one; `name` is for people who find it.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn temporary(name: &str) -> Result<Self> {
        let unique = bson::oid::ObjectId::new();
        let path = std::env::temp_dir().join(format!("hookledger-{name}-{unique}"));
        std::fs::create_dir_all(&path)
            .with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays is litter, not a failure.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
