//! SIGTERM: no new work, an answer for all that is in flight, exit 0 in time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bson::doc;
use futures::future::join_all;
use hookledger_dev::mongo::{FailPoint, shared, wait};
use hookledger_dev::stripe::sign;
use hookledger_shared::clock;

use crate::rig::program::{ConfigFile, Program};
use crate::rig::{PATIENCE, Rig, SECRET, client, event, events, named, new_database};

const CLIENTS: usize = 32;
/// What the usual orchestrators allow is 30 s.
const IN_TIME: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_under_load_loses_no_acknowledged_delivery_and_exits_0() {
    let (uri, database) = (shared::uri().await.unwrap(), new_database());
    let program = Program::start(&ConfigFile::usual(&uri, &database), "info").await;
    let acknowledged = AtomicUsize::new(0);
    let url = format!("http://{}/webhooks/stripe", program.webhooks);
    let clients = (0..CLIENTS).map(|client| load(client, &url, &acknowledged));
    let stop = async {
        wait::until("some load", PATIENCE, async || {
            Ok((acknowledged.load(Ordering::Relaxed) > 500).then_some(()))
        })
        .await
        .unwrap();
        program.terminate().await;
    };
    let (ids, ()) = tokio::join!(join_all(clients), stop);
    let ended = program.ended().await;
    assert_eq!(ended.status.code(), Some(0), "{}", ended.written);
    assert!(ended.took < IN_TIME, "{:?}", ended.took);

    let stored = events(&uri, &database)
        .await
        .distinct("eventId", doc! {})
        .await
        .unwrap();
    let stored: std::collections::HashSet<_> = stored.iter().filter_map(|id| id.as_str()).collect();
    let ids: Vec<String> = ids.into_iter().flatten().collect();
    assert!(ids.len() > 500);
    for id in &ids {
        assert!(
            stored.contains(id.as_str()),
            "{id} was acknowledged and is lost"
        );
    }
}

/// Delivers one event after the other until the server is gone; the ids that were
/// acknowledged.
async fn load(number: usize, url: &str, acknowledged: &AtomicUsize) -> Vec<String> {
    let client = client();
    let mut ids = Vec::new();
    for turn in 0.. {
        let id = format!("evt_{number}_{turn}");
        let body = event(&id);
        let signature = sign::header(body.as_bytes(), SECRET, clock::unix_seconds());
        let request = client.post(url).header("Stripe-Signature", signature);
        let Ok(response) = request.body(body).send().await else {
            break;
        };
        match response.status().as_u16() {
            200 => {
                ids.push(id);
                acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            // Not ready yet, or stopping already.
            503 => tokio::time::sleep(Duration::from_millis(20)).await,
            other => panic!("{other}"),
        }
    }
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_flight_at_the_stop_is_answered() {
    let rig = Rig::start().await;
    let slow = FailPoint::on_commands(["insert"])
        .app_name(&rig.database)
        .block(Duration::from_millis(800))
        .times(1);
    let armed = slow.arm(&rig.uri).await.unwrap();
    let trigger = rig.running.trigger();
    let stop = async {
        armed.wait_entered(1, PATIENCE).await.unwrap();
        trigger.request();
    };
    let (reply, ()) = tokio::join!(rig.deliver(event("evt_1")), stop);
    assert!(reply.is_stored(), "{reply:?}");
    rig.running.ended().await.unwrap();
    armed.off().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_do_not_hold_up_the_stop() {
    let (uri, database) = (shared::uri().await.unwrap(), new_database());
    let config = ConfigFile::usual(&named(&uri, &database), &database);
    let program = Program::start(&config, "info").await;
    let client = client();
    let url = format!("http://{}/webhooks/stripe", program.webhooks);
    // Answered, and kept alive in the client's pool.
    let answer = client.post(&url).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 400);
    let _silent = tokio::net::TcpStream::connect(program.webhooks)
        .await
        .unwrap();
    program.terminate().await;
    let ended = program.ended().await;
    assert_eq!(ended.status.code(), Some(0), "{}", ended.written);
    assert!(ended.took < IN_TIME, "{:?}", ended.took);
}
