//! What a delivery becomes in the ledger, also when it can't be understood.

use hookledger_shared::clock;

use crate::rig::{Rig, event, source};

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_delivery_waits_for_the_worker_with_all_that_is_known_of_it() {
    let rig = Rig::start().await;
    let body = event("evt_1");
    assert!(rig.deliver(body.clone()).await.is_stored());
    let row = rig.rows("stripe").await.remove(0);
    for (field, text) in [
        ("eventId", "evt_1"),
        ("provider", "stripe"),
        ("scope", "stripe"),
        ("source", "stripe"),
        ("secretId", "0"),
        ("status", "received"),
        ("type", "widget.polished"),
        ("objectId", "wid_1"),
        ("body", body.as_str()),
    ] {
        assert_eq!(row.get_str(field).ok(), Some(text), "{field}");
    }
    assert_eq!(row.get_i64("created").ok(), Some(1_767_225_598));
    assert_eq!(row.get_bool("livemode").ok(), Some(false));
    assert_eq!(row.get_i64("epoch").ok(), Some(0));
    let received = row.get_datetime("receivedAt").unwrap();
    assert_eq!(row.get_datetime("dueAt").unwrap(), received);
    // By the server's clock, not by the one that signatures are checked against.
    let age = clock::now().timestamp_millis() - received.timestamp_millis();
    assert!((-5_000..60_000).contains(&age), "{age} ms old");
    for absent in [
        "problem",
        "account",
        "apiVersion",
        "customerId",
        "lease",
        "contentType",
    ] {
        assert!(!row.contains_key(absent), "{absent}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authentic_delivery_that_nobody_understands_is_stored_with_its_problem() {
    let rig = Rig::start().await;
    let deep = format!("{{\"id\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for (body, problem) in [
        ("", "unreadable"),
        ("not json", "unreadable"),
        (r#"{"id":"evt_1","id":"evt_2"}"#, "unreadable"),
        (r#"["evt_1"]"#, "unreadable"),
        (r#"{"object":"event"}"#, "no_usable_id"),
        (r#"{"id":7}"#, "no_usable_id"),
        (&deep, "no_usable_id"),
    ] {
        assert!(rig.deliver(body).await.is_stored(), "{body}");
        assert!(rig.deliver(body).await.is_duplicate(), "{body}");
        let rows = rig.rows("stripe").await;
        let row = rows
            .iter()
            .find(|row| row.get_str("body").ok() == Some(body))
            .unwrap();
        assert_eq!(row.get_str("problem").ok(), Some(problem), "{body}");
        assert!(row.get_str("eventId").unwrap().starts_with("sha256:"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_the_other_mode_is_stored_with_its_problem_under_its_own_id() {
    let mut live = source("live");
    live.livemode = true;
    let rig = Rig::with(vec![source("test"), live]).await;
    assert!(rig.deliver_to("test", event("evt_1")).await.is_stored());
    assert!(rig.deliver_to("live", event("evt_1")).await.is_stored());
    assert!(!rig.rows("test").await[0].contains_key("problem"));
    let row = &rig.rows("live").await[0];
    assert_eq!(row.get_str("problem").ok(), Some("wrong_livemode"));
    assert_eq!(row.get_str("eventId").ok(), Some("evt_1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_no_text_is_kept_byte_for_byte() {
    let rig = Rig::start().await;
    let body = b"{\"id\":\"evt_1\",\"note\":\"\xff\xfe\xc3(\"}".to_vec();
    assert!(rig.deliver(body.clone()).await.is_stored());
    let row = rig.rows("stripe").await.remove(0);
    assert_eq!(row.get_binary_generic("body").unwrap(), &body);
    assert_eq!(row.get_str("eventId").ok(), Some("evt_1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_mean_something_to_the_database_mean_nothing_in_a_body() {
    let rig = Rig::start().await;
    let body = r#"{"id":"$where","type":"$set","a.b":1,"$set":{"status":"processed"},"":{"$oid":"x"},"n":123456789012345678901234567890}"#;
    assert!(rig.deliver(body).await.is_stored());
    let row = rig.rows("stripe").await.remove(0);
    assert_eq!(row.get_str("body").ok(), Some(body));
    assert_eq!(row.get_str("eventId").ok(), Some("$where"));
    assert_eq!(row.get_str("status").ok(), Some("received"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_body_never_reaches_the_database() {
    let rig = Rig::start().await;
    let reply = rig
        .post("stripe", crate::rig::headers(&[]), event("evt_1").into())
        .await;
    assert!(reply.is_error(400, "missing_header"), "{reply:?}");
    let forged = hookledger_dev::stripe::sign::header(b"{}", "whsec_other", crate::rig::NOW);
    let signed = crate::rig::headers(&[("stripe-signature", forged.as_bytes())]);
    let reply = rig.post("stripe", signed, b"{}".to_vec()).await;
    assert!(reply.is_error(400, "bad_signature"), "{reply:?}");
    assert!(rig.rows("stripe").await.is_empty());
}
