//! `cargo dev`: hands over to the commands in the library.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    hookledger_dev::cli::run().await
}
