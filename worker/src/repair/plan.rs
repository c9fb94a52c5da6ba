//! What an answer means for the subscription that was asked for. Pure.

use std::time::Duration;

use bson::DateTime;
use hookledger_shared::backoff::Backoff;
use hookledger_shared::config::MetadataNames;
use hookledger_shared::model::event::NewEvent;
use hookledger_shared::model::subscription::{Check, CheckReason, Subscription};
use serde_json::{Map, Value};

use super::client::Answer;
use super::observation;
use crate::handler::check;
use crate::stripe::subscription::{SubscriptionRead, read_object};

/// The wait after the first question that was not answered.
const FIRST: Duration = Duration::from_secs(5);
/// The longest wait for an answer.
const CAP: Duration = Duration::from_secs(3_600);
/// What no answer will mend by itself is looked at again after this; news of the object
/// brings it back at once.
const GIVEN_UP: Duration = Duration::from_secs(7 * 86_400);
/// An answer that can't be read may be half of one. After so many it is what Stripe says.
const MAX_UNREADABLE: u32 = 4;
/// No question follows at once on one that was not answered.
const MIN_SHARE: f64 = 0.5;

/// What was asked for, in one word: a label in metrics, a flag on the subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The answer says something new, and is in the ledger.
    Observed,
    /// The same answer was in the ledger already.
    Duplicate,
    /// The answer is what was known.
    Confirmed,
    /// Stripe knows no such subscription in this account and mode.
    Missing,
    /// Stripe does not take the key.
    Refused,
    /// Too many questions.
    Limited,
    /// No answer.
    Unavailable,
    /// The answer is no subscription, or not the one that was asked for.
    Unreadable,
    /// The answer says that what is over for good is not.
    Contradicted,
}

impl Outcome {
    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Duplicate => "duplicate",
            Self::Confirmed => "confirmed",
            Self::Missing => "missing",
            Self::Refused => "refused",
            Self::Limited => "limited",
            Self::Unavailable => "unavailable",
            Self::Unreadable => "unreadable",
            Self::Contradicted => "contradicted",
        }
    }
}

/// What is done.
#[derive(Debug, Clone)]
pub enum Step {
    /// This goes into the ledger; when it is applied, the next check is planned.
    Insert(Box<NewEvent>),
    /// Nothing is new.
    Nothing,
}

/// What follows from an answer.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What is done.
    pub step: Step,
    /// What is counted.
    pub outcome: Outcome,
    /// The next check, when nothing was inserted.
    pub otherwise: Option<Check>,
    /// What an operator should see: no answer will mend it by itself.
    pub flag: Option<&'static str>,
}

/// What follows from `answer`, at `now`. `jitter` is in `0..1`.
#[must_use]
pub fn plan(
    answer: Answer,
    known: &Subscription,
    names: &MetadataNames,
    now: DateTime,
    jitter: f64,
) -> Plan {
    let asked = Asked { known, now, jitter };
    match answer {
        Answer::Object(object) => asked.object(&object, names),
        Answer::Missing => asked.give_up(Outcome::Missing),
        Answer::Refused(_) => asked.again(Outcome::Refused, None),
        Answer::Limited(after) => asked.again(Outcome::Limited, after),
        Answer::Unavailable(_) => asked.again(Outcome::Unavailable, None),
        Answer::Unreadable => asked.unreadable(),
    }
}

struct Asked<'a> {
    known: &'a Subscription,
    now: DateTime,
    jitter: f64,
}

impl Asked<'_> {
    fn object(&self, object: &Map<String, Value>, names: &MetadataNames) -> Plan {
        let Some(read) = self.read(object, names) else {
            return self.unreadable();
        };
        if self.known.terminal && !check::ends(&read.after) {
            return self.give_up(Outcome::Contradicted);
        }
        if self.is_known(&read) {
            return Plan {
                step: Step::Nothing,
                outcome: Outcome::Confirmed,
                otherwise: check::confirmed(self.known, self.now),
                flag: None,
            };
        }
        let event = observation::event(self.known, object, self.now);
        Plan {
            step: Step::Insert(Box::new(event)),
            outcome: Outcome::Observed,
            ..self.again(Outcome::Duplicate, None)
        }
    }

    /// The object, if it is the one that was asked for.
    fn read(&self, object: &Map<String, Value>, names: &MetadataNames) -> Option<SubscriptionRead> {
        let read = read_object(object, names).ok()?;
        let livemode = object.get("livemode").and_then(Value::as_bool);
        let same = read.id == self.known.subscription_id
            && livemode.is_none_or(|mode| mode == self.known.livemode);
        same.then_some(read)
    }

    /// Whether taking it in would change nothing.
    fn is_known(&self, read: &SubscriptionRead) -> bool {
        let links = self.reason() == Some(CheckReason::Unlinked) && read.user_id.is_some();
        !self.known.provisional && !links && check::shows(self.known, &read.after)
    }

    fn reason(&self) -> Option<CheckReason> {
        Some(self.known.next_check.as_ref()?.reason)
    }

    fn tries(&self) -> u32 {
        let check = self.known.next_check.as_ref();
        check.map_or(1, |check| check.tries)
    }

    fn unreadable(&self) -> Plan {
        if self.tries() >= MAX_UNREADABLE {
            return self.give_up(Outcome::Unreadable);
        }
        self.again(Outcome::Unreadable, None)
    }

    fn again(&self, outcome: Outcome, after: Option<Duration>) -> Plan {
        let backoff = Backoff::try_new(FIRST, 2.0, CAP, u32::MAX);
        let grown = backoff.map_or(CAP, |backoff| {
            backoff.delay(self.tries(), self.jitter.max(MIN_SHARE))
        });
        Plan {
            step: Step::Nothing,
            outcome,
            otherwise: self.put_off(after.unwrap_or_default().max(grown), outcome),
            flag: None,
        }
    }

    fn give_up(&self, outcome: Outcome) -> Plan {
        Plan {
            step: Step::Nothing,
            outcome,
            otherwise: self.put_off(GIVEN_UP, outcome),
            flag: Some(outcome.as_str()),
        }
    }

    fn put_off(&self, by: Duration, outcome: Outcome) -> Option<Check> {
        let check = self.known.next_check.clone()?;
        Some(Check {
            due_at: check::later(self.now, by),
            problem: Some(outcome.as_str().to_owned()),
            ..check
        })
    }
}
