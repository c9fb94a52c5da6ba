//! A customer's first minutes in Stripe's official shape, shuffled and doubled.

use fastrand::Rng;
use hookledger_dev::stripe::history::{CREDITS, History, PLAN};
use serde_json::Value;

use super::super::Family;
use super::story::read;
use super::world::World;

#[test]
fn a_checkout_with_its_siblings_and_a_credit_pack_end_right_in_any_order() {
    let rules = World::rules();
    let history = History::new(1, 1_767_225_600);
    let key = |id: &str| format!("self:test:{id}");
    let paid = history
        .events
        .iter()
        .find(|event| event.kind == "invoice.paid");
    let paid: Value = serde_json::from_str(&paid.unwrap().body).unwrap();
    let invoice = paid["data"]["object"]["id"].as_str().unwrap();
    for seed in 0..200 {
        let mut deliveries = history.deliveries();
        Rng::with_seed(seed).shuffle(&mut deliveries);
        let mut world = World::default();
        for event in deliveries
            .iter()
            .filter(|event| Family::of(&event.kind).is_some())
        {
            let input = read(&event.id, event.body.as_bytes(), &rules).unwrap();
            world.deliver(&input, &rules);
        }
        let actors = &history.actors;
        let customer = &world.customers[&key(&actors.customer)];
        let view = &customer.entitlement;
        assert_eq!(customer.user_id.as_ref(), Some(&actors.user));
        assert!(view.entitled && !view.provisional && !customer.link_conflict);
        assert_eq!(view.plan.as_deref(), Some(PLAN));
        let until = view.until.unwrap().timestamp_millis();
        assert_eq!(until, history.paid_until * 1_000);
        assert_eq!(world.balance(&actors.user), CREDITS);
        assert!(world.rejected.is_empty());
        let mut once = world.once;
        once.sort();
        let purchase = &actors.purchase;
        let expected = [
            format!("credits:{purchase}:pack"),
            format!("receipt:{invoice}"),
            format!("receipt:{purchase}"),
            format!("welcome:{}", actors.subscription),
        ];
        assert_eq!(once, expected.map(|name| key(&name)));
    }
}
