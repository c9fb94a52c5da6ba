//! The one deployment that all tests of a test binary share. Each test uses a database of its own in it.
//!
//! Only the address is shared, never a client: each `#[tokio::test]` has its own runtime, and a client's
//! background tasks die with the runtime in which it was made.

use anyhow::Result;
use tokio::sync::OnceCell;

use super::deployment::Deployment;
use super::replica_set::{Members, ReplicaSetOptions};

/// A static, because the tests of a binary have no common owner. It is never dropped: the server ends with the
/// process, by the guard of `process`.
static SHARED: OnceCell<Deployment> = OnceCell::const_new();

/// Where the shared deployment is; the first caller starts it. One member, fail points allowed.
///
/// # Errors
/// When it can't be started; the next caller tries again.
pub async fn uri() -> Result<String> {
    let options = ReplicaSetOptions::for_tests(Members::One);
    Ok(SHARED
        .get_or_try_init(|| Deployment::open(&options))
        .await?
        .uri())
}
