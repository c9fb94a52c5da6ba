//! A real `mongod`: what holds for one process, whoever dies.

use std::path::Path;
use std::time::Duration;

use bson::doc;

use super::{Mongod, MongodOptions};
use crate::mongo::wait;

const SOON: Duration = Duration::from_secs(10);

async fn answers(mongod: &Mongod) -> bool {
    mongod.command(doc! { "ping": 1 }).await.is_ok()
}

#[tokio::test]
async fn a_killed_server_comes_back_on_its_port_with_its_data() {
    let mut mongod = Mongod::start(MongodOptions::default()).await.unwrap();
    let (port, pid) = (mongod.port(), mongod.pid());
    let database = super::direct::client(&mongod.uri())
        .await
        .unwrap()
        .database("kept");
    database
        .collection("things")
        .insert_one(doc! { "_id": 1 })
        .await
        .unwrap();
    mongod.stop().await.unwrap();
    assert!(!mongod.is_running() && !answers(&mongod).await);
    mongod.restart().await.unwrap();
    mongod.kill().await.unwrap();
    mongod.restart().await.unwrap();
    assert_eq!(mongod.port(), port);
    assert_ne!(mongod.pid(), pid);
    let database = super::direct::client(&mongod.uri())
        .await
        .unwrap()
        .database("kept");
    let things = database.collection::<bson::Document>("things");
    assert_eq!(things.count_documents(doc! {}).await.unwrap(), 1);
}

#[tokio::test]
async fn a_paused_server_is_silent_and_answers_again_when_resumed() {
    let mut mongod = Mongod::start(MongodOptions::default()).await.unwrap();
    mongod.pause().unwrap();
    let limit = Duration::from_millis(300);
    assert!(
        super::direct::command_within(limit, &mongod.uri(), doc! { "ping": 1 })
            .await
            .is_err()
    );
    assert!(mongod.is_running());
    mongod.resume().unwrap();
    assert!(answers(&mongod).await);
}

#[tokio::test]
async fn a_dropped_server_leaves_neither_process_nor_data() {
    let mut mongod = Mongod::start(MongodOptions::default()).await.unwrap();
    let (pid, data) = (mongod.pid(), mongod.data_dir().to_owned());
    mongod.pause().unwrap();
    drop(mongod);
    assert!(!Path::new(&format!("/proc/{pid}")).exists() && !data.exists());
}

#[tokio::test]
async fn a_server_that_refuses_its_options_says_why() {
    let options = MongodOptions {
        set_parameters: vec![("noSuchParameter".into(), "1".into())],
        ..MongodOptions::default()
    };
    let error = Mongod::start(options).await.unwrap_err();
    assert!(
        format!("{error:#}").contains("noSuchParameter"),
        "{error:#}"
    );
}

#[tokio::test]
async fn many_servers_started_at_once_each_get_their_own_port() {
    let starting = (0..4).map(|_| Mongod::start(MongodOptions::default()));
    let servers = futures::future::try_join_all(starting).await.unwrap();
    let ports: std::collections::HashSet<u16> = servers.iter().map(Mongod::port).collect();
    assert_eq!(ports.len(), 4);
    wait::until("all to answer", SOON, async || {
        Ok(futures::future::join_all(servers.iter().map(answers))
            .await
            .into_iter()
            .all(|yes| yes)
            .then_some(()))
    })
    .await
    .unwrap();
}
