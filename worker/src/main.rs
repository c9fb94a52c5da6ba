//! The program: hands over to the commands in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    hookledger_worker::cli::main()
}
