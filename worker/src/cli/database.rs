//! The database, as commands want it: there now, or a reason why not.

use anyhow::Context;
use hookledger_shared::config::{WorkerSettings, masked};
use hookledger_shared::store::preflight::PreflightError;
use hookledger_shared::store::{ConnectOptions, Stores};

use crate::app::APP_NAME;

/// Connects, and refuses a server that can't hold a ledger. Where the daemon would wait, a
/// command fails after the few seconds in which the driver looks for a primary.
pub(super) async fn connect(settings: &WorkerSettings) -> anyhow::Result<Stores> {
    let options = ConnectOptions::named(APP_NAME);
    let stores = Stores::connect(&settings.mongodb, &options).await?;
    match stores.check_server().await {
        Ok(()) => Ok(stores),
        Err(PreflightError::Refused(refusal)) => Err(refusal.into()),
        Err(PreflightError::NotYet(error)) => {
            let place = masked(&settings.mongodb.uri);
            Err(error).with_context(|| format!("{place} can't be reached or used"))
        }
    }
}
