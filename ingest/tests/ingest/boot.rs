//! What the program refuses to start with, and what it waits for.

use bson::doc;
use hookledger_dev::mongo::process::MongodOptions;
use hookledger_dev::mongo::{Members, Mongod, ReplicaSet, ReplicaSetOptions, shared, wait};
use tokio::net::TcpListener;

use crate::rig::program::{self, ConfigFile, Program};
use crate::rig::{PATIENCE, client, events, new_database};

/// Runs the program with this configuration until it ends; its exit code and words.
async fn ended(config: &str) -> (Option<i32>, String) {
    let output = program::ended(&ConfigFile::new(config)).await;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_configuration_ends_with_64_and_names_every_key() {
    let config = r#"
        [mongodb]
        uri = "mongodb://127.0.0.1:27017/?replicaSet=rs0"
        [ingest]
        bnid = "127.0.0.1:0"
        commit_timeout_ms = 1
        [[source]]
        name = "stripe"
        provider = "stripe"
        secrets = ["env:NOT_THERE"]
    "#;
    let (code, said) = ended(config).await;
    assert_eq!(code, Some(64), "{said}");
    for key in [
        "ingest.bnid",
        "ingest.commit_timeout_ms",
        "source[0].livemode",
        "source[0].secrets[0]",
        "NOT_THERE",
    ] {
        assert!(said.contains(key), "{key} is not named in\n{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_file_ends_with_64_and_is_named() {
    let config = ConfigFile::new("");
    let path = std::env::temp_dir().join("no-such-hookledger.toml");
    let output = tokio::process::Command::new(env!("CARGO_BIN_EXE_hookledger-ingest"))
        .arg("--config")
        .arg(&path)
        .output()
        .await
        .unwrap();
    drop(config);
    assert_eq!(output.status.code(), Some(64));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no-such-hookledger.toml"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_weak_write_concern_in_the_uri_is_refused() {
    for weak in ["w=1", "journal=false"] {
        let uri = format!("mongodb://127.0.0.1:1/?replicaSet=rs0&{weak}");
        let (code, said) = ended(&program::usual(&uri, "hookledger")).await;
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("write concern must be majority"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standalone_server_is_refused() {
    let options = MongodOptions {
        replica_set: None,
        test_commands: false,
        set_parameters: Vec::new(),
    };
    let server = Mongod::start(options).await.unwrap();
    let uri = format!("mongodb://127.0.0.1:{}/", server.port());
    let (code, said) = ended(&program::usual(&uri, "hookledger")).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("needs a replica set"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_would_not_deduplicate_is_refused() {
    let (uri, database) = (shared::uri().await.unwrap(), new_database());
    let keys = doc! { "eventId": 1, "provider": 1, "scope": 1 };
    let index = mongodb::IndexModel::builder().keys(keys).build();
    let events = events(&uri, &database).await;
    events.create_index(index).await.unwrap();
    let (code, said) = ended(&program::usual(&uri, &database)).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("eventId_1_provider_1_scope_1"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn old_duplicates_are_refused_and_named() {
    let (uri, database) = (shared::uri().await.unwrap(), new_database());
    let row = || doc! { "eventId": "evt_twice", "provider": "stripe", "scope": "default" };
    let events = events(&uri, &database).await;
    events.insert_many([row(), row()]).await.unwrap();
    let (code, said) = ended(&program::usual(&uri, &database)).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("evt_twice"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_port_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for key in ["bind", "ops_bind"] {
        let usual = program::usual("mongodb://127.0.0.1:1/?replicaSet=rs0", "hookledger");
        let config = usual.replacen(
            &format!("\n        {key} = \"127.0.0.1:0\""),
            &format!("\n        {key} = \"{address}\""),
            1,
        );
        let (code, said) = ended(&config).await;
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains(&format!("ingest.{key} = {address}")),
            "{said}"
        );
        assert!(said.contains("in use"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_database_out_of_reach_ingest_is_up_and_not_ready_until_it_comes() {
    let options = ReplicaSetOptions::for_tests(Members::One);
    let mut set = ReplicaSet::start(&options).await.unwrap();
    set.member_mut(0).stop().await.unwrap();
    let config = ConfigFile::usual(&set.uri(), &new_database());
    let program = Program::start(&config, "info").await;
    let status = async |path: &str| {
        let url = format!("http://{}{path}", program.ops);
        client().get(url).send().await.unwrap().status().as_u16()
    };
    assert_eq!(status("/livez").await, 200);
    assert_eq!(status("/readyz").await, 503);
    set.member_mut(0).restart().await.unwrap();
    wait::until("ingest to be ready", PATIENCE, async || {
        Ok((status("/readyz").await == 200).then_some(()))
    })
    .await
    .unwrap();
    program.terminate().await;
    let ended = program.ended().await;
    assert_eq!(ended.status.code(), Some(0), "{}", ended.written);
}
