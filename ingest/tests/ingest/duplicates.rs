//! One event, one row, whoever delivers it how often.

use futures::future::join_all;

use crate::rig::{Rig, event, source};

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_that_comes_again_is_acknowledged_and_stored_once() {
    let rig = Rig::start().await;
    assert!(rig.deliver(event("evt_1")).await.is_stored());
    for _ in 0..3 {
        assert!(rig.deliver(event("evt_1")).await.is_duplicate());
    }
    assert_eq!(rig.rows("stripe").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_deliveries_of_one_event_at_once_are_all_acknowledged_and_stored_once() {
    let rig = Rig::start().await;
    for round in 0..5 {
        let body = event(&format!("evt_{round}"));
        let replies = join_all((0..50).map(|_| rig.deliver(body.clone()))).await;
        let stored = replies.iter().filter(|reply| reply.is_stored()).count();
        let duplicates = replies.iter().filter(|reply| reply.is_duplicate()).count();
        assert_eq!((stored, duplicates), (1, 49), "{replies:?}");
    }
    assert_eq!(rig.rows("stripe").await.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_events_at_once_each_get_their_own_answer() {
    let rig = Rig::start().await;
    for number in 0..20 {
        rig.deliver(event(&format!("evt_{number}"))).await;
    }
    // Every fifth is there already, and every one comes twice.
    let ids: Vec<String> = (0..100).map(|number| format!("evt_{number}")).collect();
    let deliveries = ids.iter().chain(&ids).map(|id| rig.deliver(event(id)));
    let replies = join_all(deliveries).await;
    let stored = replies.iter().filter(|reply| reply.is_stored()).count();
    assert!(
        replies.iter().all(|reply| reply.status == 200),
        "{replies:?}"
    );
    assert_eq!(stored, 80);
    assert_eq!(rig.rows("stripe").await.len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_body_under_the_same_id_is_the_same_event_and_the_first_is_kept() {
    let rig = Rig::start().await;
    let body = event("evt_1");
    let again = body.replace("}}}", "}},\"pending_webhooks\":1}");
    assert_ne!(body, again);
    assert!(rig.deliver(body.clone()).await.is_stored());
    assert!(rig.deliver(again).await.is_duplicate());
    let rows = rig.rows("stripe").await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].get_str("body").unwrap(), body);
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_of_one_scope_deduplicate_each_other_and_others_do_not() {
    let mut twin = source("twin");
    twin.scope = "stripe".to_owned();
    let rig = Rig::with(vec![source("stripe"), twin, source("tenant")]).await;
    assert!(rig.deliver_to("stripe", event("evt_1")).await.is_stored());
    assert!(rig.deliver_to("twin", event("evt_1")).await.is_duplicate());
    assert!(rig.deliver_to("tenant", event("evt_1")).await.is_stored());
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_that_look_alike_are_different_events() {
    let rig = Rig::start().await;
    let ids = [
        "evt_a",
        "evt_A",
        "evt_a ",
        "evt_\\u00e9",
        "evt_e\\u0301",
        "evt_a\\u0000",
    ];
    for id in ids {
        assert!(rig.deliver(event(id)).await.is_stored(), "{id}");
    }
    assert!(rig.deliver(event("evt_\\u0061")).await.is_duplicate());
    assert_eq!(rig.rows("stripe").await.len(), ids.len());
}
