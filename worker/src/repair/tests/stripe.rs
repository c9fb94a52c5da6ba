//! A Stripe that holds the truth about `sub_1`, beside a world of documents that only sees
//! its events.

use bson::DateTime;
use hookledger_shared::model::event::{LedgerEvent, NewEvent};
use hookledger_shared::model::subscription::{Check, CheckReason, Subscription};
use serde_json::{Value, json};

use super::super::client::Answer;
use super::super::plan::{Outcome, Plan, Step, plan};
use crate::handler::tests::story::{Event, subscription};
use crate::handler::tests::world::World;
use crate::handler::{Input, Rules};

/// The key of the subscription that all of this is about.
pub(super) const KEY: &str = "self:test:sub_1";
/// When rules are asked in these worlds.
pub(super) const NOW: DateTime = DateTime::from_millis(1_000_000);

/// `sub_1` with these fields.
pub(super) fn sub(fields: Value) -> Value {
    subscription("sub_1", fields)
}

/// One world and its Stripe.
pub(super) struct Stripe {
    pub(super) world: World,
    pub(super) truth: Value,
    /// How often it was asked.
    pub(super) asked: usize,
    /// The document as the last question found it.
    claimed: Option<(i64, Option<Check>)>,
}

impl Stripe {
    pub(super) fn of(truth: Value) -> Self {
        Self {
            world: World::default(),
            truth,
            asked: 0,
            claimed: None,
        }
    }

    pub(super) fn take<'a>(&mut self, events: impl IntoIterator<Item = &'a Event>) {
        self.world.take(events);
    }

    pub(super) fn known(&self) -> &Subscription {
        &self.world.subscriptions[KEY]
    }

    pub(super) fn check(&self) -> Option<&Check> {
        let known = self.world.subscriptions.get(KEY)?;
        known.next_check.as_ref()
    }

    /// What is planned, if it is because the state is in doubt.
    pub(super) fn doubt(&self) -> Option<CheckReason> {
        let reason = self.check()?.reason;
        let waits = matches!(reason, CheckReason::Unlinked | CheckReason::PeriodOver);
        (!waits).then_some(reason)
    }

    /// Changes what is known of it, as a store's operation outside of a transaction does.
    pub(super) fn edit(&mut self, change: impl FnOnce(&mut Subscription)) {
        let mut known = self.known().clone();
        change(&mut known);
        self.world.fold.subscriptions.put(known);
    }

    /// Claims the check and asks; the answer has not been taken in.
    pub(super) fn ask(&mut self) -> Plan {
        self.asked += 1;
        self.edit(|known| {
            if let Some(check) = &mut known.next_check {
                check.tries += 1;
            }
        });
        let known = self.known();
        let claimed = Some((known.version, known.next_check.clone()));
        let plan = answered(Answer::Object(object(&self.truth)), known);
        self.claimed = claimed;
        plan
    }

    /// Takes the answer in, as the repairer and a processor do.
    pub(super) fn follow(&mut self, plan: Plan) -> Outcome {
        match plan.step {
            Step::Insert(event) => {
                let rules = World::rules();
                let row = row(&event);
                let input = Input::read(&row, &rules).unwrap();
                self.world.deliver(&input, &rules);
            }
            Step::Nothing => {
                let known = self.known();
                let now = (known.version, known.next_check.clone());
                // As the store does: not when an event has written it since.
                if self.claimed.take().is_none_or(|claimed| claimed == now) {
                    self.edit(|known| known.next_check = plan.otherwise);
                }
            }
        }
        plan.outcome
    }

    /// Asks until nothing is in doubt.
    pub(super) fn repair(&mut self) {
        while self.doubt().is_some() {
            let plan = self.ask();
            self.follow(plan);
            assert!(self.asked < 100, "it never ends: {:?}", self.check());
        }
    }

    /// What is shown is what is true, for certain.
    pub(super) fn check_truth(&self, of: &str) {
        let known = self.known();
        assert!(!known.provisional, "{of}: {known:#?}");
        assert_eq!(json!(known.status), self.truth["status"], "{of}");
        let flag = json!(known.cancel_at_period_end);
        assert_eq!(flag, self.truth["cancel_at_period_end"], "{of}");
        let customer = &self.world.customers["self:test:cus_1"];
        let entitled = ["active", "trialing", "past_due"];
        let entitled = entitled.map(Value::from).contains(&self.truth["status"]);
        assert_eq!(customer.entitlement.entitled, entitled, "{of}");
        assert!(!customer.entitlement.provisional, "{of}");
    }
}

/// What follows from an answer.
pub(super) fn answered(answer: Answer, known: &Subscription) -> Plan {
    plan(answer, known, &Rules::default().metadata, NOW, 1.0)
}

pub(super) fn object(value: &Value) -> serde_json::Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// An event as the ledger gives it back.
pub(super) fn row(event: &NewEvent) -> LedgerEvent {
    bson::deserialize_from_slice(event.row().as_bytes()).unwrap()
}
