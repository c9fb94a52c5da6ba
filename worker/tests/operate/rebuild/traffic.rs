//! Others work at the same time.

use std::sync::atomic::{AtomicBool, Ordering};

use bson::doc;
use hookledger_shared::store::transaction::Slot;
use hookledger_worker::event::process_next;

use super::stories::{self, lives};
use super::{check, is_equal, named, rebuild};

/// Does `work` while a worker processes `events`, a few at a time, to the last.
async fn meanwhile<T>(
    bed: &crate::bed::Bed,
    seed: u64,
    work: impl AsyncFn() -> T,
) -> (Vec<T>, usize) {
    let events = lives(seed, 60);
    let (done, context) = (AtomicBool::new(false), stories::context(bed));
    let receive = async {
        for some in events.chunks(5) {
            bed.insert(some).await;
            tokio::task::yield_now().await;
        }
    };
    let process = async || {
        let mut slot = Slot::open(&context.stores).await.unwrap();
        while !done.load(Ordering::Relaxed) {
            process_next(&context, &mut slot).await.unwrap();
        }
    };
    let ended = async {
        receive.await;
        stories::drain(bed).await;
        done.store(true, Ordering::Relaxed);
    };
    let working = async {
        let mut seen = Vec::new();
        let mut during = 0;
        while !done.load(Ordering::Relaxed) {
            seen.push(work().await);
            during += usize::from(!done.load(Ordering::Relaxed));
        }
        (seen, during)
    };
    let (_, _, _, _, worked) = tokio::join!(process(), process(), process(), ended, working);
    worked
}

#[tokio::test(flavor = "multi_thread")]
async fn under_traffic_there_is_no_false_alarm() {
    let bed = stories::bed().await;
    let (reports, during) = Box::pin(meanwhile(&bed, 11, async || check(&bed).await)).await;
    assert!(during > 0, "no check ended while there was traffic");
    for report in reports {
        assert_eq!(report["counts"]["differences"], 0, "{report:#}");
        assert_eq!(report["equal"], true, "{report:#}");
    }
    is_equal(&bed).await;
    assert_eq!(bed.count("audit", doc! {}).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repair_under_traffic_repairs_the_damage_and_nothing_else() {
    let bed = stories::bed().await;
    bed.insert(&lives(2, 3)).await;
    stories::drain(&bed).await;
    // Nobody's traffic is about these.
    let key = "self:test:user_of_nobody";
    let account = doc! {
        "_id": key, "account": "self", "livemode": false, "userId": "user_of_nobody",
        "balance": 5_i64, "version": 1_i64,
    };
    let accounts = bed.stores.database().collection("creditAccounts");
    accounts.insert_one(account).await.unwrap();
    let (reports, _) = Box::pin(meanwhile(&bed, 12, async || rebuild(&bed, &[]).await)).await;
    let found: Vec<_> = reports
        .iter()
        .flat_map(|report| named(report, "differences"))
        .collect();
    assert_eq!(found, [format!("creditAccounts {key} balance")]);
    assert_eq!(bed.count("audit", doc! {}).await, 1);
    is_equal(&bed).await;
}
