//! Why ingest does not start, or ends without being asked to.

use std::io;
use std::net::SocketAddr;

use hookledger_shared::store::connect::ConnectError;
use hookledger_shared::store::preflight::BootRefusal;

/// Why ingest does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The connection string can't be used.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// An address can't be listened on.
    #[error("{key} = {address} can't be listened on")]
    Bind {
        /// The setting.
        key: &'static str,
        /// Its value.
        address: SocketAddr,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

/// Why ingest ended without being asked to.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The database is not one that we can use.
    #[error("refused to start: {0}")]
    Refused(#[from] BootRefusal),
    /// A server fell over.
    #[error("a server ended")]
    Server(#[source] io::Error),
    /// A part of ours panicked; its panic has been printed.
    #[error("a background task panicked")]
    Panicked,
}
