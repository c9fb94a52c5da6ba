//! Brings back what differs, one transaction a unit, each only if it is as it was read.
//! What was overtaken is found again by the next look.

use bson::Document;
use bson::oid::ObjectId;
use hookledger_shared::model::book::Book;
use hookledger_shared::model::credit::CreditEntry;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::outbox::{CausedBy, StateMessage};
use hookledger_shared::store::rebuild::{Balanced, By, Corrected, Rebuilt};
use hookledger_shared::store::transaction::{Slot, TransactionError};
use hookledger_shared::store::{Customers, Operator};

use super::kept::{Kept, Kind, Unit};
use super::replay::Replay;
use super::settle::Lasting;
use super::{Rebuild, RebuildError, compare, knots, sums};
use crate::fold::Fold;
use crate::handler::{Effect, entitlement_changed};

/// What a version of a document that is gone may have come to beyond what is known of it.
const JUMP: i64 = 1_000;
/// How a rebuild is named where an event would be.
const CAUSE: &str = "rebuild";

/// Repairs each of them, once.
pub(super) async fn all(
    rebuild: &Rebuild<'_>,
    replay: &Replay,
    lasting: &[Lasting],
    operator: &Operator,
) -> Result<(), RebuildError> {
    let mut slot = Slot::open(rebuild.stores).await?;
    let now = rebuild.stores.server_time().await?;
    for one in lasting {
        let by = By { operator, now };
        if slot.is_spent() {
            slot = Slot::open(rebuild.stores).await?;
        }
        let repair = Repair {
            rebuild,
            fold: &replay.fold,
            by,
        };
        repair.one(&mut slot, one).await?;
    }
    Ok(())
}

struct Repair<'a> {
    rebuild: &'a Rebuild<'a>,
    fold: &'a Fold,
    by: By<'a>,
}

impl Repair<'_> {
    async fn one(&self, slot: &mut Slot, one: &Lasting) -> Result<(), RebuildError> {
        let stores = self.rebuild.stores;
        let done = match one.unit.kind {
            Kind::Document(kept) => match self.document(kept, one).await? {
                Some(rebuilt) => stores.rebuild(slot, &rebuilt, self.by).await,
                None => return Ok(()),
            },
            Kind::Entries => match self.entries(one) {
                Some(corrected) => stores.correct(slot, &corrected, self.by).await,
                None => return Ok(()),
            },
            Kind::Account => match knots::of_key(&one.unit.key) {
                Some((book, user)) => {
                    let user = user.to_owned();
                    stores
                        .balance(slot, &Balanced { book, user }, self.by)
                        .await
                }
                None => return Ok(()),
            },
        };
        done.map(|_as_read| ())
            .map_err(|source| failed(&one.unit, source))
    }

    /// The document as it shall stand; none when the ledger has none.
    async fn document(
        &self,
        kept: &'static Kept,
        one: &Lasting,
    ) -> Result<Option<Rebuilt>, RebuildError> {
        let key = &one.unit.key;
        let Some(rebuilt) = (kept.fold)(self.fold).document(key)? else {
            return Ok(None);
        };
        let live = one.live.document.as_ref();
        let read = one.live.version();
        if live.is_some() && read.is_none() {
            // Without its version nobody could tell whether it moved.
            return Ok(None);
        }
        let version = match read {
            Some(version) => version.saturating_add(1),
            None => self.version_of_a_lost(kept, key, &rebuilt).await?,
        };
        let fields = compare::fields(kept, live, &rebuilt);
        let before = fields.keys().filter_map(|name| {
            let value = live?.get(name)?;
            Some((name.clone(), value.clone()))
        });
        let before: Document = before.collect();
        Ok(Some(Rebuilt {
            collection: kept.name,
            key: key.clone(),
            read,
            version,
            before,
            customer: owner(kept, key, &rebuilt),
            messages: self.messages(kept, key, live, version),
            settle: self.rebuild.settle,
            fields,
        }))
    }

    /// A version greater than any that was sent while the document was there.
    async fn version_of_a_lost(
        &self,
        kept: &Kept,
        key: &str,
        rebuilt: &Document,
    ) -> Result<i64, RebuildError> {
        let counted = rebuilt.get_i64("version").unwrap_or(0);
        if kept.name != Customers::NAME {
            return Ok(counted.max(1));
        }
        let message = self.fold.customers.get(key).map(view_of);
        let mut greatest = counted;
        if let Some(Effect::State { key, .. }) = message {
            let rows = self.rebuild.stores.outbox.by_key(&key).await?;
            let sent = rows.iter().filter_map(|row| row.get_i64("version").ok());
            greatest = sent.fold(counted, i64::max);
        }
        Ok(greatest.saturating_add(JUMP))
    }

    /// The customer's view, when it is another now.
    fn messages(
        &self,
        kept: &Kept,
        key: &str,
        live: Option<&Document>,
        version: i64,
    ) -> Vec<StateMessage> {
        let customer = self.fold.customers.get(key);
        let Some(customer) = customer.filter(|_| kept.name == Customers::NAME) else {
            return Vec::new();
        };
        let rebuilt = Customer {
            version,
            ..customer.clone()
        };
        let live = live.and_then(|live| bson::deserialize_from_document(live.clone()).ok());
        let view = |of: &Customer| (of.user_id.clone(), of.link_conflict, of.entitlement.clone());
        let unknown = Customer::unknown(&book_of(customer), &customer.customer_id);
        let before: Customer = live.unwrap_or(unknown);
        if view(&before) == view(&rebuilt) {
            return Vec::new();
        }
        let Effect::State {
            key,
            topic,
            subject,
            version,
            payload,
        } = view_of(&rebuilt)
        else {
            return Vec::new();
        };
        let destinations = self.rebuild.routing.destinations(topic.as_str()).iter();
        let message = destinations.map(|destination| StateMessage {
            key: key.clone(),
            topic: topic.as_str().to_owned(),
            subject: subject.clone(),
            version,
            destination: destination.clone(),
            payload: payload.clone(),
            caused_by: CausedBy {
                provider: "hookledger".to_owned(),
                scope: "hookledger".to_owned(),
                event_id: CAUSE.to_owned(),
            },
        });
        message.collect()
    }

    /// The entries that are missing: those that the ledger's events made, where they bring
    /// the sum back, else a correction. None while there is no purchase to write with them.
    fn entries(&self, one: &Lasting) -> Option<Corrected> {
        let (purchase, read) = (one.unit.key.clone(), one.live.version()?);
        let (book, id) = knots::of_key(&purchase)?;
        let mut missing = sums::folded(self.fold, &purchase);
        for (user, credits) in sums::live(&one.live.entries) {
            sums::add(&mut missing, user, credits.saturating_neg());
        }
        missing.retain(|_, credits| *credits != 0);
        let stands = |key: &str| {
            let mut keys = one.live.entries.iter();
            keys.any(|entry| entry.get_str("_id").is_ok_and(|stands| stands == key))
        };
        let entries = missing.into_iter().map(|(user, credits)| {
            let of_purchase = self.fold.entries.of(&purchase);
            let mut lost = of_purchase.filter(|entry| !stands(&entry.key));
            let lost = lost.find(|entry| entry.user_id == user && entry.credits == credits);
            match lost {
                Some(lost) => CreditEntry {
                    at: self.by.now,
                    ..lost.clone()
                },
                None => self.correction(&book, id, user, credits),
            }
        });
        let known = one.live.entries.iter();
        let known = known.filter_map(|entry| entry.get_str("_id").ok());
        Some(Corrected {
            known: known.map(str::to_owned).collect(),
            entries: entries.collect(),
            purchase_id: id.to_owned(),
            purchase: purchase.clone(),
            book,
            read,
        })
    }

    fn correction(&self, book: &Book, purchase: &str, user: String, credits: i64) -> CreditEntry {
        let event_id = format!("{CAUSE}_{}", ObjectId::new());
        CreditEntry {
            key: book.key(&format!("correction:{purchase}:{event_id}:{user}")),
            account: book.account.clone(),
            livemode: book.livemode,
            user_id: user,
            purchase_id: purchase.to_owned(),
            kind: "correction".to_owned(),
            credits,
            event_id,
            at: self.by.now,
        }
    }
}

/// The customer that a document belongs to, other than itself.
fn owner(kept: &Kept, key: &str, rebuilt: &Document) -> Option<String> {
    let (book, _) = knots::of_key(key)?;
    let customer = book.key(rebuilt.get_str("customerId").ok()?);
    (kept.name != Customers::NAME).then_some(customer)
}

fn book_of(customer: &Customer) -> Book {
    Book {
        account: customer.account.clone(),
        livemode: customer.livemode,
    }
}

fn view_of(customer: &Customer) -> Effect {
    entitlement_changed(&book_of(customer), customer)
}

fn failed(unit: &Unit, source: TransactionError) -> RebuildError {
    RebuildError::Repair {
        collection: unit.collection(),
        key: unit.key.clone(),
        source: Box::new(source),
    }
}
