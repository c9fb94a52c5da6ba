//! What is taken, grouped, answered and let go.

use hookledger_shared::model::event::NewEvent;
use tokio::sync::oneshot::{self, Receiver};

use super::super::entry::{Entry, Identity, Verdict};
use super::super::queue::{
    Group, Held, MAX_BYTES, MAX_DELIVERIES, MAX_GROUP_BYTES, MAX_GROUP_ROWS, Next, Queue,
};
use super::super::{CommitError, Committed};
use super::{LIMIT, event, large};

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
    let Next::Group(group) = queue.next() else {
        panic!("nothing to write");
    };
    group
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
    assert_eq!(queue.held(), Held::default());
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
    assert_eq!(queue.held(), Held::default());
}

#[test]
fn a_row_without_a_verdict_is_unknown() {
    let mut queue = open_queue();
    let mut waiting = enter(&mut queue, event("a")).unwrap();
    group(&mut queue);
    queue.finish(Vec::new());
    assert_eq!(waiting.try_recv(), Ok(Err(CommitError::Unknown)));
}
