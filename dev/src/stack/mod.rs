//! The product's two programs on this machine: [`settings`] (what they are told),
//! [`program`] (one running process), [`metrics`] (what it counts) and [`Stack`] (how both
//! are started).

pub mod metrics;
pub mod program;
pub mod settings;

use std::path::{Path, PathBuf};

use anyhow::Result;

pub use program::{Launch, Program, Signal};
pub use settings::StackSettings;

use crate::binaries::{Binaries, built};

/// Knows how to start ingest and worker with one configuration, as often as wanted.
#[derive(Debug)]
pub struct Stack {
    binaries: Binaries,
    config: PathBuf,
    /// Whether logs go to our standard error as well.
    pub show_logs: bool,
    uri: String,
}

impl Stack {
    /// Builds the programs and writes their configuration into `folder`.
    ///
    /// # Errors
    /// When they can't be built, or the file can't be written.
    pub async fn prepare(settings: &StackSettings, folder: &Path) -> Result<Self> {
        let binaries = built().await?.clone();
        let config = folder.join("hookledger.toml");
        settings.write(&config)?;
        Ok(Self {
            binaries,
            config,
            show_logs: false,
            uri: settings.mongodb_uri.clone(),
        })
    }

    /// The configuration file.
    #[must_use]
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// Starts an ingest. `app_name` is how fail points know it.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn ingest(&self, app_name: &str) -> Result<Program> {
        Program::start(self.launch("ingest", &self.binaries.ingest, &[], app_name)).await
    }

    /// Starts a worker. `app_name` is how fail points know it.
    ///
    /// # Errors
    /// When it does not come up.
    pub async fn worker(&self, app_name: &str) -> Result<Program> {
        Program::start(self.launch("worker", &self.binaries.worker, &["run"], app_name)).await
    }

    /// How to run one of the worker's commands.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&self.binaries.worker);
        command.arg("--config").arg(&self.config).args(arguments);
        command.envs(StackSettings::secrets());
        command
    }

    fn launch(
        &self,
        name: &'static str,
        binary: &Path,
        command: &[&str],
        app_name: &str,
    ) -> Launch {
        let mut arguments = vec!["--config".to_owned(), self.config.display().to_string()];
        arguments.extend(command.iter().map(|&word| word.to_owned()));
        let mut environment = StackSettings::secrets();
        let and = if self.uri.contains('?') { '&' } else { '?' };
        let uri = format!("{}{and}appName={app_name}", self.uri);
        environment.push(("HOOKLEDGER__MONGODB__URI".to_owned(), uri));
        Launch {
            name,
            binary: binary.to_owned(),
            arguments,
            environment,
            show_log: self.show_logs,
        }
    }
}
