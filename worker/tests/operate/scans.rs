//! What operators and gauges read is read through indexes, however large the ledger is.

use std::time::Duration;

use bson::{DateTime, Document, doc};
use hookledger_worker::ops::lag;

use crate::bed::Bed;
use crate::letters::{KEY, event};

const LATER: usize = 500;
const PROCESSED: usize = 2_000;

/// A ledger whose rows are nearly all at rest or not yet due.
async fn filled() -> Bed {
    let bed = Bed::new().await;
    bed.dead_event("evt_dead", "default", "fault").await;
    bed.dead_message(KEY, "app", "refused").await;
    bed.message("self:test:due", "app").await;
    let rows = |prefix: &'static str, count| {
        (0..count).map(move |n| event(&format!("{prefix}_{n}"), "default", "a", Duration::ZERO))
    };
    let all: Vec<_> = rows("done", PROCESSED)
        .chain(rows("later", LATER))
        .collect();
    bed.insert(&all).await;
    let now = bed.stores.server_time().await.unwrap().timestamp_millis();
    let in_an_hour = DateTime::from_millis(now + 3_600_000);
    let events = bed.stores.database().collection::<Document>("events");
    let named = |prefix: &str| doc! { "eventId": { "$regex": format!("^{prefix}_") } };
    let done =
        doc! { "$set": { "status": "processed", "outcome": "applied" }, "$unset": { "dueAt": 1 } };
    events.update_many(named("done"), done).await.unwrap();
    let later = doc! { "$set": { "dueAt": in_an_hour } };
    events.update_many(named("later"), later).await.unwrap();
    bed
}

/// Everything that is asked of the two large collections while `work` goes on.
async fn profiled(bed: &Bed, work: impl Future<Output = ()>) -> Vec<Document> {
    profiled_of(bed, &["events", "outbox"], work).await
}

/// Everything that is asked of these collections while `work` goes on.
pub(crate) async fn profiled_of(
    bed: &Bed,
    collections: &[&str],
    work: impl Future<Output = ()>,
) -> Vec<Document> {
    let database = bed.stores.database();
    let profile = |level: i32| database.run_command(doc! { "profile": level });
    profile(2).await.unwrap();
    work.await;
    profile(0).await.unwrap();
    let spaces = collections.iter();
    let spaces: Vec<_> = spaces
        .map(|name| format!("{}.{name}", database.name()))
        .collect();
    let asked = doc! { "ns": { "$in": spaces } };
    bed.rows("system.profile", asked).await
}

fn number(entry: &Document, field: &str) -> i64 {
    let number = entry.get_i32(field).map(i64::from);
    number.or_else(|_| entry.get_i64(field)).unwrap_or(0)
}

pub(crate) fn scans(entry: &Document) -> bool {
    let plan = entry.get_str("planSummary").unwrap_or_default();
    plan.contains("COLLSCAN")
}

#[tokio::test]
async fn a_scan_would_be_seen() {
    let bed = filled().await;
    let events = bed.stores.database().collection::<Document>("events");
    events.drop_index("dead").await.unwrap();
    let list = async { bed.run(&["dead-letters", "list"]).await.says(0, &[]) };
    assert!(profiled(&bed, list).await.iter().any(scans));
}

#[tokio::test]
async fn no_command_and_no_gauge_scans_the_ledger_or_the_outbox() {
    let bed = filled().await;
    let destinations = ["app".to_owned(), "crm".to_owned()];
    let work = async {
        // What the gauges and /api/lag read.
        lag::read(&bed.stores, &destinations).await.unwrap();
        for command in [
            &["lag"][..],
            &["dead-letters", "list"],
            &["dead-letters", "list", "--kind", "fault", "--about", "a"],
            &["dead-letters", "list", "--place", "app"],
            &["dead-letters", "show", "evt_dead"],
            &["dead-letters", "show", KEY],
            &["dead-letters", "retry", "evt_dead", KEY],
            &["dead-letters", "retry", "--all"],
        ] {
            assert_eq!(bed.run(command).await.code, 0, "{command:?}");
        }
    };
    let asked = profiled(&bed, work).await;
    assert!(asked.len() > 30, "the profiler saw {}", asked.len());
    for entry in &asked {
        assert!(!scans(entry), "{entry}");
        // At most what waits, which counts go up to; never what is at rest.
        let examined = number(entry, "docsExamined");
        assert!(examined <= i64::try_from(LATER).unwrap() + 10, "{entry}");
    }
}

#[tokio::test]
async fn the_head_is_one_row_however_many_wait_for_later() {
    let bed = filled().await;
    let heads = async {
        assert_eq!(bed.stores.events.head().await.unwrap(), None);
        bed.stores.outbox.head("app").await.unwrap().unwrap();
    };
    let asked = profiled(&bed, heads).await;
    assert_eq!(asked.len(), 2);
    for entry in &asked {
        assert!(number(entry, "docsExamined") <= 1, "{entry}");
        assert!(number(entry, "keysExamined") <= 2, "{entry}");
    }
}
