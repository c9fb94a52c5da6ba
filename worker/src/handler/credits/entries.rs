//! The entries that bring a purchase's sum to where it should be. Entries are never
//! changed: what is missing is appended under the key of its cause, and what no cause
//! explains (older news came late) by one correction a user.

use std::collections::BTreeMap;

use hookledger_shared::model::credit::CreditEntry;
use hookledger_shared::model::purchase::Purchase;

use super::super::Case;
use super::super::effects::Reason;
use super::reversal::Taken;

/// What a purchase should come to for its user.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) user: &'a str,
    pub(super) granted: i64,
    pub(super) taken: &'a [Taken],
}

/// The entries to append.
pub(super) fn missing(
    case: &Case<'_>,
    purchase: &Purchase,
    target: Option<&Target<'_>>,
) -> Vec<CreditEntry> {
    let mut ledger = Ledger {
        case,
        purchase,
        known: case.facts.entries_of(&purchase.purchase_id),
        appended: Vec::new(),
    };
    let id = &purchase.purchase_id;
    if let Some(target) = target {
        ledger.append(
            format!("grant:{id}:pack"),
            "grant",
            target.user,
            target.granted,
        );
        for taken in target.taken {
            let kind = taken.reason.as_str();
            ledger.append(taken.key.clone(), kind, target.user, -taken.credits);
        }
    }
    ledger.give_back(target);
    for (user, credits) in ledger.off(target) {
        ledger.append(ledger.correction_key(&user), "correction", &user, credits);
    }
    ledger.appended
}

struct Ledger<'a> {
    case: &'a Case<'a>,
    purchase: &'a Purchase,
    known: &'a [CreditEntry],
    appended: Vec<CreditEntry>,
}

impl Ledger<'_> {
    /// Whether an entry has this key. A refund's may be another purchase's, which owned the
    /// payment before: what is off here is then a correction.
    fn is_there(&self, key: &str) -> bool {
        let known = self.case.facts.entries_of.values().flatten();
        known.chain(&self.appended).any(|entry| entry.key == key)
    }

    /// Appends an entry, unless it moves nothing or is there.
    fn append(&mut self, key: String, kind: &str, user: &str, credits: i64) {
        let event = self.case.event;
        let key = event.book.key(&key);
        if credits == 0 || self.is_there(&key) {
            return;
        }
        self.appended.push(CreditEntry {
            key,
            account: event.book.account.clone(),
            livemode: event.book.livemode,
            user_id: user.to_owned(),
            purchase_id: self.purchase.purchase_id.clone(),
            kind: kind.to_owned(),
            credits,
            event_id: event.id.clone(),
            at: self.case.now,
        });
    }

    /// A key that no correction has. A dead letter that is tried again corrects once more.
    fn correction_key(&self, user: &str) -> String {
        let event = self.case.event;
        let first = format!(
            "correction:{}:{}:{user}",
            self.purchase.purchase_id, event.id
        );
        let again = (2_u32..).map(|n| format!("{first}:{n}"));
        let mut keys = std::iter::once(first.clone()).chain(again);
        let free = keys.find(|key| !self.is_there(&event.book.key(key)));
        free.unwrap_or(first)
    }

    /// What was taken back and is no more (a refund failed, a dispute's money came back)
    /// has a counter-entry of its own.
    fn give_back(&mut self, target: Option<&Target<'_>>) {
        let book = &self.case.event.book;
        let taken = target.map_or(&[][..], |target| target.taken);
        let stands: Vec<String> = taken.iter().map(|taken| book.key(&taken.key)).collect();
        let gone = self
            .known
            .iter()
            .filter(|entry| !stands.contains(&entry.key));
        for entry in gone {
            let prefix = book.key("");
            let Some(key) = entry.key.strip_prefix(&prefix) else {
                continue;
            };
            let counter = if key.starts_with("refund:") && entry.kind == Reason::Refund.as_str() {
                (format!("{key}:failed"), Reason::RefundFailed)
            } else if let Some(dispute) = key.strip_suffix(":withdrawn") {
                (format!("{dispute}:reinstated"), Reason::DisputeReinstated)
            } else {
                continue;
            };
            let (key, reason) = counter;
            self.append(key, reason.as_str(), &entry.user_id, -entry.credits);
        }
    }

    /// What is off, user by user.
    fn off(&self, target: Option<&Target<'_>>) -> BTreeMap<String, i64> {
        let mut off: BTreeMap<String, i64> = BTreeMap::new();
        // Entries come in any order, so a sum on the way may not fit where the end does.
        for entry in self.known.iter().chain(&self.appended) {
            let off = off.entry(entry.user_id.clone()).or_default();
            *off = off.wrapping_sub(entry.credits);
        }
        if let Some(target) = target {
            let taken: i64 = target.taken.iter().map(|taken| taken.credits).sum();
            let off = off.entry(target.user.to_owned()).or_default();
            *off = off.wrapping_add(target.granted - taken);
        }
        off.retain(|_, credits| *credits != 0);
        off
    }
}
