//! `dead-letters list` and `show`.

use sha2::{Digest, Sha256};

use crate::bed::Bed;
use crate::letters::{KEY, PERSONAL, body};

const LIST: [&str; 2] = ["dead-letters", "list"];
const SHOW: [&str; 2] = ["dead-letters", "show"];

#[tokio::test]
async fn events_and_messages_are_listed_with_their_reasons_and_without_what_they_carry() {
    let bed = Bed::new().await;
    bed.run(&LIST).await.says(0, &["no dead letters"]);
    bed.dead_event("evt_1", "default", "fault").await;
    bed.dead_message(KEY, "app", "refused").await;

    let listed = bed.run(&[&LIST[..], &["--json"]].concat()).await.json();
    let event = &listed["events"][0];
    assert_eq!(event["eventId"], "evt_1");
    assert_eq!(event["type"], "customer.updated");
    assert_eq!(event["attempts"], 1);
    assert_eq!(event["lastError"]["kind"], "fault");
    assert!(event["deadAt"].as_str().unwrap().ends_with('Z'));
    let message = &listed["messages"][0];
    assert_eq!(message["key"], KEY);
    assert_eq!(message["destination"], "app");
    assert_eq!(message["lastError"]["message"], "it met a refused");
    assert!(!listed.to_string().contains(PERSONAL));

    let listed = bed.run(&LIST).await;
    listed.says(0, &["evt_1", "it met a fault", KEY, "it met a refused"]);
    assert!(!listed.out.contains(PERSONAL));
}

#[tokio::test]
async fn each_filter_narrows_the_list() {
    let bed = Bed::new().await;
    bed.dead_event("evt_1", "default", "fault").await;
    bed.dead_event("evt_2", "other", "crashed").await;
    bed.dead_message(KEY, "app", "refused").await;
    for (filter, expected) in [
        (vec![], vec!["evt_2", "evt_1", KEY]),
        (vec!["--what", "event"], vec!["evt_2", "evt_1"]),
        (vec!["--what", "message"], vec![KEY]),
        (vec!["--kind", "crashed"], vec!["evt_2"]),
        (vec!["--kind", "refused"], vec![KEY]),
        (vec!["--about", "email.receipt"], vec![KEY]),
        (vec!["--about", "customer.updated"], vec!["evt_2", "evt_1"]),
        (vec!["--place", "from_default"], vec!["evt_1"]),
        (vec!["--place", "app", "--kind", "fault"], vec![]),
        (vec!["--limit", "1"], vec!["evt_2", KEY]),
    ] {
        let arguments = [&LIST[..], &filter, &["--json"]].concat();
        let listed = bed.run(&arguments).await.json();
        let ids = |list: &str, id: &str| {
            let rows = listed[list].as_array().unwrap().iter();
            let ids = rows.map(|row| row[id].as_str().unwrap().to_owned());
            ids.collect::<Vec<_>>()
        };
        let found = [ids("events", "eventId"), ids("messages", "key")].concat();
        assert_eq!(found, expected, "{filter:?}");
    }
}

#[tokio::test]
async fn a_body_and_a_payload_are_shown_only_when_they_are_asked_for() {
    let bed = Bed::new().await;
    bed.dead_event("evt_1", "default", "fault").await;
    bed.dead_message(KEY, "app", "refused").await;
    let show = async |more: &[&str]| bed.run(&[&SHOW, more].concat()).await;

    let shown = show(&["evt_1", "--json"]).await.json();
    let event = &shown["events"][0];
    assert_eq!(event["lastError"]["kind"], "fault");
    assert_eq!(event["status"], "dead");
    assert_eq!(event["body"]["bytes"], body().len());
    let digest = Sha256::digest(body());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(event["body"]["sha256"], digest);
    assert!(!shown.to_string().contains(PERSONAL));
    let shown = show(&["evt_1", "--json", "--body"]).await.json();
    assert_eq!(shown["events"][0]["body"]["text"], body());

    let shown = show(&[KEY, "--json"]).await.json();
    assert_eq!(shown["messages"][0]["causedBy"]["eventId"], "evt_1");
    assert!(!shown.to_string().contains(PERSONAL));
    let shown = show(&[KEY, "--json", "--payload"]).await.json();
    assert_eq!(shown["messages"][0]["payload"]["email"], PERSONAL);

    for (id, flag) in [("evt_1", "--body"), (KEY, "--payload")] {
        let shown = show(&[id]).await;
        shown.says(0, &[id, "lastError.kind", "it met a"]);
        assert!(!shown.out.contains(PERSONAL), "{shown:?}");
        show(&[id, flag]).await.says(0, &[PERSONAL]);
    }
}

#[tokio::test]
async fn what_a_provider_calls_an_event_gives_no_orders_to_a_terminal() {
    let bed = Bed::new().await;
    let id = "evt_\u{1b}[2J\n";
    bed.dead_event(id, "default", "fault").await;
    for arguments in [&LIST[..], &["dead-letters", "show", id]] {
        let printed = bed.run(arguments).await;
        printed.says(0, &["evt_\\u{1b}[2J\\n"]);
        assert!(!printed.out.contains('\u{1b}'));
    }
}

#[tokio::test]
async fn what_is_nowhere_can_not_be_shown() {
    let bed = Bed::new().await;
    let shown = bed.run(&["dead-letters", "show", "evt_0"]).await;
    shown.says(1, &["no event and no message is called evt_0"]);
}
