//! `run`: the daemon.

use std::process::ExitCode;

use anyhow::Context;
use hookledger_shared::config::WorkerSettings;
use hookledger_shared::shutdown::{self, Shutdown};

use super::Ended;
use crate::app;

pub(super) async fn run(settings: WorkerSettings) -> Result<ExitCode, Ended> {
    let (trigger, shutdown) = Shutdown::new();
    shutdown::on_signals(trigger).context("signals can't be heard")?;
    app::run(settings, shutdown)
        .await
        .map_err(anyhow::Error::from)?;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}
