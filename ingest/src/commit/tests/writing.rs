//! Who waits and who writes, with writers made up for the purpose.

use std::future::{pending, ready};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bson::RawDocumentBuf;
use hookledger_shared::store::{Insertion, StoreError};
use hookledger_shared::telemetry::metrics::IngestMetrics;

use super::super::{CommitError, Committed, Committer};
use super::{LIMIT, event};

fn committer() -> Committer {
    Committer::new(Arc::new(IngestMetrics::new(["stripe"])))
}

#[tokio::test]
async fn a_failed_write_is_unknown_to_everyone_in_it() {
    let committer = committer();
    let writes = committer.write(|_, limit| ready(Err(StoreError::TimedOut(limit))));
    let commits = async {
        tokio::join!(
            committer.commit(event("a"), LIMIT),
            committer.commit(event("b"), LIMIT)
        )
    };
    tokio::select! {
        // The writer first, so that the place is open.
        biased;
        () = writes => panic!("the writer ended"),
        both = commits => assert_eq!(both, (Err(CommitError::Unknown), Err(CommitError::Unknown))),
    }
}

#[tokio::test]
async fn who_waits_too_long_is_told_and_the_write_goes_on() {
    let committer = committer();
    let writes = committer.write(|_, _| pending());
    tokio::select! {
        // The writer first, so that the place is open.
        biased;
        () = writes => panic!("the writer ended"),
        answer = committer.commit(event("a"), Duration::from_millis(1)) => {
            assert_eq!(answer, Err(CommitError::TimedOut));
        }
    }
}

#[tokio::test]
async fn a_panic_leaves_nobody_waiting_and_another_writer_may_go_on() {
    let committer = committer();
    let writing = {
        let committer = committer.clone();
        hookledger_shared::task::spawn("falls over", async move {
            let insert = |_: Vec<RawDocumentBuf>, _: Duration| async { panic!("on purpose") };
            committer.write(insert).await;
        })
    };
    while !committer.is_open() {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        committer.commit(event("a"), LIMIT).await,
        Err(CommitError::Unknown)
    );
    assert!(writing.await.is_err());
    assert_eq!(
        committer.commit(event("a"), LIMIT).await,
        Err(CommitError::NotReady)
    );

    let writes = committer.write(|rows, _| ready(Ok(vec![Insertion::Stored; rows.len()])));
    let commit = async {
        let answer = committer.commit(event("a"), LIMIT).await;
        committer.close();
        answer
    };
    let ((), answer) = tokio::join!(writes, commit);
    assert_eq!(answer, Ok(Committed::Stored));
}

#[tokio::test]
async fn a_group_is_what_gathered_while_the_one_before_was_in_flight() {
    let committer = committer();
    let (sizes, permits) = (Mutex::new(Vec::new()), tokio::sync::Semaphore::new(0));
    let insert = async |rows: Vec<RawDocumentBuf>| {
        sizes.lock().unwrap().push(rows.len());
        permits.acquire().await.unwrap().forget();
        Ok(vec![Insertion::Stored; rows.len()])
    };
    let writes = committer.write(|rows, _| insert(rows));
    let commits = async {
        let first = committer.commit(event("first"), LIMIT);
        let rest = async {
            while sizes.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
            }
            let ids: Vec<String> = (0..50).map(|number| number.to_string()).collect();
            let commits = ids.iter().map(|id| committer.commit(event(id), LIMIT));
            let release = async { permits.add_permits(2) };
            tokio::join!(futures::future::join_all(commits), release).0
        };
        let answers = tokio::join!(first, rest);
        committer.close();
        answers
    };
    let ((), (first, rest)) = tokio::join!(writes, commits);
    assert_eq!(first, Ok(Committed::Stored));
    assert!(rest.iter().all(|answer| *answer == Ok(Committed::Stored)));
    assert_eq!(*sizes.lock().unwrap(), [1, 50]);
}
