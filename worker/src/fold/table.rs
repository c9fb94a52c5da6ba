//! Documents of one kind by key, and by what they hang on where a rule asks for that.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use hookledger_shared::model::book::Book;
use hookledger_shared::model::checkout::Checkout;
use hookledger_shared::model::credit::CreditEntry;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::model::invoice::Invoice;
use hookledger_shared::model::payment::Payment;
use hookledger_shared::model::purchase::Purchase;
use hookledger_shared::model::subscription::Subscription;

/// A document as a [`Table`] keeps it.
pub trait Keyed {
    /// Its key, the book's.
    fn key(&self) -> &str;

    /// The key of what it hangs on, when it is looked up by that too.
    fn owner(&self) -> Option<String> {
        None
    }
}

macro_rules! keyed {
    ($($document:ty),*) => { $(
        impl Keyed for $document {
            fn key(&self) -> &str {
                &self.id
            }
        }
    )* };
}
keyed!(Customer, Checkout, Invoice, Payment, Purchase);

impl Keyed for Subscription {
    fn key(&self) -> &str {
        &self.id
    }

    fn owner(&self) -> Option<String> {
        let customer = self.customer_id.as_deref()?;
        Some(self.book().key(customer))
    }
}

impl Keyed for CreditEntry {
    fn key(&self) -> &str {
        &self.key
    }

    fn owner(&self) -> Option<String> {
        let book = Book {
            account: self.account.clone(),
            livemode: self.livemode,
        };
        Some(book.key(&self.purchase_id))
    }
}

/// Documents of one kind. Reads go to the map by key.
#[derive(Debug, Clone)]
pub struct Table<T> {
    by_key: BTreeMap<String, T>,
    by_owner: BTreeMap<String, BTreeSet<String>>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            by_key: BTreeMap::new(),
            by_owner: BTreeMap::new(),
        }
    }
}

impl<T> Deref for Table<T> {
    type Target = BTreeMap<String, T>;

    fn deref(&self) -> &Self::Target {
        &self.by_key
    }
}

impl<T: Keyed> Table<T> {
    /// Puts the document in the place of what stood under its key.
    pub fn put(&mut self, document: T) {
        let key = document.key().to_owned();
        let owner = document.owner();
        if let Some(owner) = owner.clone() {
            let owned = self.by_owner.entry(owner).or_default();
            owned.insert(key.clone());
        }
        let before = self.by_key.insert(key.clone(), document);
        let before = before.and_then(|before| before.owner());
        if let Some(before) = before.filter(|before| Some(before) != owner.as_ref()) {
            self.disown(&before, &key);
        }
    }

    fn disown(&mut self, owner: &str, key: &str) {
        if let Some(owned) = self.by_owner.get_mut(owner) {
            owned.remove(key);
            if owned.is_empty() {
                self.by_owner.remove(owner);
            }
        }
    }

    /// What hangs on `owner`, in the order of keys.
    pub fn of<'a>(&'a self, owner: &str) -> impl Iterator<Item = &'a T> {
        let owned = self.by_owner.get(owner).into_iter().flatten();
        owned.filter_map(|key| self.by_key.get(key))
    }
}

impl<T: Keyed> Extend<T> for Table<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, documents: I) {
        documents
            .into_iter()
            .for_each(|document| self.put(document));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Owned(&'static str, Option<&'static str>);

    impl Keyed for Owned {
        fn key(&self) -> &str {
            self.0
        }

        fn owner(&self) -> Option<String> {
            self.1.map(str::to_owned)
        }
    }

    #[test]
    fn what_moves_to_another_owner_is_found_there_only() {
        let mut table = Table::default();
        table.extend([Owned("b", Some("one")), Owned("a", Some("one"))]);
        table.put(Owned("a", Some("two")));
        table.put(Owned("b", None));
        let keys = |owner| table.of(owner).map(|owned| owned.0).collect::<Vec<_>>();
        assert_eq!((keys("one"), keys("two")), (vec![], vec!["a"]));
        assert_eq!(table.len(), 2);
    }
}
