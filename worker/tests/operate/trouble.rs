//! Commands whose database is not there, or is none that could hold a ledger.

use std::time::{Duration, Instant};

use hookledger_dev::mongo::Mongod;
use hookledger_dev::mongo::process::MongodOptions;

use crate::bed::Bed;

const COMMANDS: [&[&str]; 5] = [
    &["lag"],
    &["dead-letters", "list"],
    &["dead-letters", "retry", "evt_1"],
    &["indexes", "plan"],
    &["indexes", "apply"],
];

/// The driver looks for a primary for five seconds; the rest is for a busy machine.
const SOON: Duration = Duration::from_secs(12);

#[tokio::test]
async fn a_database_that_can_not_be_reached_is_said_soon_and_without_its_password() {
    let bed = Bed::at("mongodb://ada:hunter2@127.0.0.1:1/?replicaSet=rs0").await;
    let all = COMMANDS.map(|command| async {
        let start = Instant::now();
        let ran = bed.run(command).await;
        (ran, start.elapsed())
    });
    for (ran, took) in futures::future::join_all(all).await {
        ran.says(1, &["mongodb://***@127.0.0.1:1", "can't be reached"]);
        assert!(ran.out.is_empty(), "{ran:?}");
        assert!(took < SOON, "{took:?}");
    }
}

#[tokio::test]
async fn a_standalone_server_is_refused_by_every_command() {
    let server = Mongod::start(MongodOptions::default()).await.unwrap();
    for options in ["", "?directConnection=true", "?replicaSet=rs0"] {
        let uri = format!("mongodb://127.0.0.1:{}/{options}", server.port());
        let bed = Bed::at(&uri).await;
        let all = COMMANDS.map(|command| bed.run(command));
        for ran in futures::future::join_all(all).await {
            ran.says(1, &["standalone server", "rs.initiate()"]);
        }
    }
}
