//! Random lives of a subscription with many changes in one second, delivered shuffled and
//! doubled: the end is the truth, or flagged.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::story::{Event, completed, created, deleted, session, subscription, updated};
use super::world::World;

const LIVES: u64 = 3_000;

/// A life, and the subscription as it is at its end.
fn life(random: &mut Rng) -> (Vec<Event>, Value) {
    let mut now = 10;
    let mut fields =
        json!({ "status": "incomplete", "cancel_at_period_end": false, "cancel_at": null });
    let mut events = vec![created("e0", now, subscription("sub_1", fields.clone()))];
    for n in 1..random.usize(2..8) {
        now += i64::from(random.u8(0..8) / 5);
        let mut previous = Map::new();
        let (name, value) = match random.u8(0..4) {
            0 | 1 => (
                "status",
                json!(random.choice(["active", "past_due", "unpaid"])),
            ),
            2 => ("cancel_at_period_end", json!(random.bool())),
            _ => (
                "cancel_at",
                random.choice([Value::Null, json!(500), json!(600)]).into(),
            ),
        };
        previous.insert(name.to_owned(), fields[name].clone());
        if fields[name] == value {
            continue;
        }
        fields[name] = value;
        let id = format!("e{}{n}", random.alphabetic());
        events.push(updated(
            &id,
            now,
            subscription("sub_1", fields.clone()),
            previous.into(),
        ));
    }
    if random.u8(0..4) == 0 {
        events.push(deleted("e99", now, subscription("sub_1", fields.clone())));
        fields["status"] = json!("canceled");
    }
    events.push(completed("c", 10, session("cs_1", json!({}))));
    (events, fields)
}

#[test]
fn nothing_is_ever_wrong_and_unflagged() {
    let (mut flagged, mut ties) = (0, 0);
    for seed in 0..LIVES {
        let mut random = Rng::with_seed(seed);
        let (events, truth) = life(&mut random);
        let mut deliveries: Vec<Event> = events.iter().chain(&events).cloned().collect();
        random.shuffle(&mut deliveries);
        let world = World::after(&deliveries);
        assert_eq!(world.end(), World::after(&events).end(), "seed {seed}");
        let shown = &world.subscriptions["self:test:sub_1"];
        let entitlement = &world.customers["self:test:cus_1"].entitlement;
        ties += usize::from(shown.register.events.len() > 1);
        flagged += usize::from(shown.provisional);
        if shown.provisional {
            let image = shown.register.events.iter().map(|seen| &seen.after);
            assert!(
                image
                    .into_iter()
                    .any(|image| json!(image.status) == truth["status"])
            );
            assert!(entitlement.provisional || shown.terminal, "seed {seed}");
            continue;
        }
        assert_eq!(json!(shown.status), truth["status"], "seed {seed}");
        let ends = shown.cancel_at.map(|at| at.timestamp_millis() / 1_000);
        assert_eq!(json!(ends), truth["cancel_at"], "seed {seed}");
        let with_period = json!(shown.cancel_at_period_end);
        assert_eq!(with_period, truth["cancel_at_period_end"], "seed {seed}");
        let entitled = ["active", "past_due"]
            .map(Value::from)
            .contains(&truth["status"]);
        assert_eq!(entitlement.entitled, entitled, "seed {seed}");
    }
    assert!(
        ties > 1_000 && flagged > 100,
        "{ties} ties, {flagged} flagged: too tame"
    );
}
