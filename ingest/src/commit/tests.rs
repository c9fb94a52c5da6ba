//! The rules of the queue and of who writes, with writers made up for the purpose. What the
//! real database makes of it is in the integration tests.

use std::future::{pending, ready};
use std::sync::Mutex;

use bson::{DateTime, RawDocumentBuf};
use bytes::Bytes;
use tokio::sync::oneshot::Receiver;

use super::queue::{MAX_BYTES, MAX_DELIVERIES, MAX_GROUP_BYTES, MAX_GROUP_ROWS};
use super::*;

const LIMIT: Duration = Duration::from_secs(30);

fn event(id: &str) -> NewEvent {
    NewEvent {
        event_id: id.to_owned(),
        provider: "stripe",
        scope: "default".to_owned(),
        source: "stripe".to_owned(),
        secret_id: "0".to_owned(),
        event_type: None,
        created: None,
        livemode: None,
        account: None,
        api_version: None,
        object_id: None,
        customer_id: None,
        content_type: None,
        body: Bytes::new(),
        problem: None,
        received_at: DateTime::MIN,
    }
}

fn large(id: &str, bytes: usize) -> NewEvent {
    NewEvent {
        body: Bytes::from(vec![b' '; bytes]),
        ..event(id)
    }
}

fn enter(queue: &mut Queue, event: NewEvent) -> Result<Receiver<Verdict>, CommitError> {
    let row = event.row();
    let (answer, waiting) = oneshot::channel();
    let entry = Entry {
        identity: Identity::of(event),
        row,
        limit: LIMIT,
        answer,
    };
    queue.enter(entry).map(|()| waiting)
}

fn open_queue() -> Queue {
    let mut queue = Queue::default();
    queue.open();
    queue
}

fn group(queue: &mut Queue) -> Group {
    match queue.next() {
        Next::Group(group) => group,
        other @ (Next::Nothing | Next::End) => panic!("{other:?}"),
    }
}

fn committer() -> Committer {
    Committer::new(Arc::new(IngestMetrics::new(["stripe"])))
}

#[test]
fn nothing_is_taken_before_somebody_writes_or_after_the_close() {
    let mut queue = Queue::default();
    assert_eq!(
        enter(&mut queue, event("a")).unwrap_err(),
        CommitError::NotReady
    );
    queue.open();
    let mut waiting = enter(&mut queue, event("a")).unwrap();
    queue.close();
    queue.open();
    assert_eq!(
        enter(&mut queue, event("b")).unwrap_err(),
        CommitError::Closed
    );
    // What was taken before the close is still written.
    assert_eq!(group(&mut queue).rows.len(), 1);
    queue.finish(vec![Ok(Committed::Stored)]);
    assert_eq!(waiting.try_recv(), Ok(Ok(Committed::Stored)));
    assert!(matches!(queue.next(), Next::End));
    assert_eq!(queue.held(), queue::Held::default());
}

#[test]
fn one_event_is_written_once_and_all_who_wait_for_it_hear_so() {
    let mut queue = open_queue();
    let mut first = enter(&mut queue, event("a")).unwrap();
    let mut same_group = enter(&mut queue, event("a")).unwrap();
    let mut other = enter(&mut queue, event("b")).unwrap();
    assert_eq!(group(&mut queue).rows.len(), 2);
    let mut in_flight = enter(&mut queue, event("a")).unwrap();
    assert!(matches!(queue.next(), Next::Nothing));
    queue.finish(vec![Ok(Committed::Stored), Err(CommitError::Refused)]);
    assert_eq!(first.try_recv(), Ok(Ok(Committed::Stored)));
    assert_eq!(same_group.try_recv(), Ok(Ok(Committed::Duplicate)));
    assert_eq!(in_flight.try_recv(), Ok(Ok(Committed::Duplicate)));
    assert_eq!(other.try_recv(), Ok(Err(CommitError::Refused)));
    // Once answered it is forgotten: the next one asks the database.
    drop(enter(&mut queue, event("a")));
    assert_eq!(queue.held().deliveries, 1);
}

#[test]
fn another_scope_is_another_event() {
    let mut queue = open_queue();
    let elsewhere = NewEvent {
        scope: "tenant".to_owned(),
        ..event("a")
    };
    let _waiting = (enter(&mut queue, event("a")), enter(&mut queue, elsewhere));
    assert_eq!(group(&mut queue).rows.len(), 2);
}

#[test]
fn a_group_is_bounded_in_rows_and_bytes() {
    let mut queue = open_queue();
    let mut waiting = Vec::new();
    for number in 0..MAX_GROUP_ROWS + 1 {
        waiting.push(enter(&mut queue, event(&number.to_string())).unwrap());
    }
    assert_eq!(group(&mut queue).rows.len(), MAX_GROUP_ROWS);
    queue.finish(vec![Ok(Committed::Stored); MAX_GROUP_ROWS]);
    assert_eq!(group(&mut queue).rows.len(), 1);
    queue.finish(vec![Ok(Committed::Stored)]);

    for number in 0..3 {
        let event = large(&number.to_string(), MAX_GROUP_BYTES / 2);
        waiting.push(enter(&mut queue, event).unwrap());
    }
    // Two halves and their other fields are already too much for one.
    assert_eq!(group(&mut queue).rows.len(), 1);
}

#[test]
fn what_is_larger_than_a_group_still_goes_alone() {
    let mut queue = open_queue();
    let _waiting = enter(&mut queue, large("a", MAX_GROUP_BYTES + 1)).unwrap();
    assert_eq!(group(&mut queue).rows.len(), 1);
}

#[test]
fn a_full_queue_refuses_at_once() {
    let mut queue = open_queue();
    let mut waiting = Vec::new();
    for _ in 0..MAX_DELIVERIES {
        waiting.push(enter(&mut queue, event("a")).unwrap());
    }
    assert_eq!(
        enter(&mut queue, event("a")).unwrap_err(),
        CommitError::Full
    );
    assert_eq!(
        enter(&mut queue, event("b")).unwrap_err(),
        CommitError::Full
    );

    let mut queue = open_queue();
    let _waiting = enter(&mut queue, large("a", MAX_BYTES - 1_024)).unwrap();
    assert_eq!(
        enter(&mut queue, large("b", 1_024)).unwrap_err(),
        CommitError::Full
    );
}

#[test]
fn what_nobody_waits_for_any_more_is_not_written() {
    let mut queue = open_queue();
    drop(enter(&mut queue, event("a")).unwrap());
    drop(enter(&mut queue, event("b")).unwrap());
    let mut second = enter(&mut queue, event("b")).unwrap();
    assert_eq!(group(&mut queue).rows.len(), 1);
    queue.finish(vec![Ok(Committed::Stored)]);
    assert_eq!(second.try_recv(), Ok(Ok(Committed::Duplicate)));
    assert_eq!(queue.held(), queue::Held::default());
}

#[test]
fn a_row_without_a_verdict_is_unknown() {
    let mut queue = open_queue();
    let mut waiting = enter(&mut queue, event("a")).unwrap();
    group(&mut queue);
    queue.finish(Vec::new());
    assert_eq!(waiting.try_recv(), Ok(Err(CommitError::Unknown)));
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
        () = writes => panic!("the writer ended"),
        both = commits => assert_eq!(both, (Err(CommitError::Unknown), Err(CommitError::Unknown))),
    }
}

#[tokio::test]
async fn who_waits_too_long_is_told_and_the_write_goes_on() {
    let committer = committer();
    let writes = committer.write(|_, _| pending());
    tokio::select! {
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
