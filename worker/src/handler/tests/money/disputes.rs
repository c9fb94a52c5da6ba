//! What is disputed: inquiries, losses, and money that comes back.

use super::super::orders::one_end;
use super::super::story::USER;
use super::{PAYMENT, PURCHASE, dispute, disputed, once, refund, sale};

#[test]
fn l7_a_dispute_that_is_lost_takes_all_back() {
    let [created, withdrawn] = disputed();
    let events = [
        sale(10),
        created,
        withdrawn,
        dispute("d3", "charge.dispute.closed", 90, "lost"),
    ];
    let world = one_end("L7", &events);
    assert_eq!(world.balance(USER), 0);
    assert!(!world.purchases[PURCHASE].held);
}

#[test]
fn l8_a_dispute_that_is_won_gives_all_back() {
    let [created, withdrawn] = disputed();
    let events = [
        sale(10),
        created,
        withdrawn,
        dispute("d3", "charge.dispute.funds_reinstated", 90, "under_review"),
        dispute("d4", "charge.dispute.closed", 90, "won"),
    ];
    let world = one_end("L8", &events);
    assert_eq!(world.balance(USER), 100);
    assert_eq!(
        world.payments[PAYMENT].disputes[0]
            .current
            .status
            .as_deref(),
        Some("won")
    );
    let told = [
        "credits:p1:pack",
        "receipt:p1",
        "reversed:dp_1",
        "reversed:dp_1:reinstated",
    ];
    assert_eq!(once(&world), told);
}

#[test]
fn l8_money_withdrawn_once_more_after_it_came_back_is_gone() {
    let [created, withdrawn] = disputed();
    let events = [
        sale(10),
        created,
        withdrawn,
        dispute("d3", "charge.dispute.funds_reinstated", 90, "under_review"),
        dispute("d4", "charge.dispute.funds_withdrawn", 120, "lost"),
    ];
    assert_eq!(one_end("again", &events).balance(USER), 0);
}

#[test]
fn l9_an_inquiry_moves_nothing_and_a_dispute_holds_until_it_is_closed() {
    let inquiry = [
        sale(10),
        dispute("d1", "charge.dispute.created", 20, "warning_needs_response"),
        dispute("d2", "charge.dispute.closed", 90, "warning_closed"),
    ];
    let world = one_end("L9", &inquiry);
    assert_eq!(world.balance(USER), 100);
    assert!(!world.purchases[PURCHASE].held);
    let [created, _] = disputed();
    let world = one_end("hold", &[sale(10), created]);
    assert_eq!(world.balance(USER), 100);
    assert!(world.purchases[PURCHASE].held);
}

#[test]
fn l11_a_refund_and_a_dispute_of_one_payment_take_back_no_more_than_was_granted() {
    let [created, withdrawn] = disputed();
    let events = [
        sale(10),
        refund("r1", "refund.created", 15, "re_1", 999, "succeeded"),
        created,
        withdrawn,
    ];
    let world = one_end("L11", &events);
    assert_eq!(world.balance(USER), 0);
    assert_eq!(world.purchases[PURCHASE].reversed, 100);
}
