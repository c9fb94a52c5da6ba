//! The command line of a local `mongod`: small, on loopback, everything in one temporary folder.

use std::path::{Path, PathBuf};

/// Small: a developer's machine may run several servers beside the tests.
const CACHE_GB: &str = "0.25";

/// Small for the same reason; far more than a test or a demo writes.
const OPLOG_MB: &str = "64";

/// How long a primary that is asked to stop waits for its secondaries and turns clients away. The default of
/// 15 s is for clients far away.
const GOODBYE_MS: u32 = 1000;

/// What a server is started with.
#[derive(Clone, Debug, Default)]
pub struct MongodOptions {
    /// The replica set's name; a standalone server when absent.
    pub replica_set: Option<String>,
    /// Allows fail points (`enableTestCommands`).
    pub test_commands: bool,
    /// Further `--setParameter name=value`.
    pub set_parameters: Vec<(String, String)>,
}

impl MongodOptions {
    /// All arguments for a server with this data directory and port.
    pub(super) fn arguments(&self, data: &Path, port: u16) -> Vec<String> {
        let folder = data.display().to_string();
        let mut arguments = vec![
            format!("--dbpath={folder}"),
            format!("--logpath={}", log_file(data).display()),
            format!("--unixSocketPrefix={folder}"),
            "--bind_ip=127.0.0.1".to_owned(),
            format!("--port={port}"),
            format!("--wiredTigerCacheSizeGB={CACHE_GB}"),
            format!("--oplogSize={OPLOG_MB}"),
            "--setParameter=diagnosticDataCollectionEnabled=false".to_owned(),
            format!("--setParameter=shutdownTimeoutMillisForSignaledShutdown={GOODBYE_MS}"),
        ];
        arguments.extend(
            self.replica_set
                .iter()
                .map(|name| format!("--replSet={name}")),
        );
        if self.test_commands {
            arguments.push("--setParameter=enableTestCommands=1".to_owned());
        }
        arguments.extend(
            self.set_parameters
                .iter()
                .map(|(name, value)| format!("--setParameter={name}={value}")),
        );
        arguments
    }
}

/// Where the server logs.
pub(super) fn log_file(data: &Path) -> PathBuf {
    data.join("mongod.log")
}
