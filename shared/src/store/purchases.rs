//! The `purchases` collection: one document a purchase of credits.

use super::documents::{Domain, Stored};
use super::index::Index;
use crate::model::purchase::Purchase;

/// The `purchases` collection.
pub type Purchases = Domain<Purchase>;

impl Stored for Purchase {
    const NAME: &'static str = "purchases";

    fn key(&self) -> &str {
        &self.id
    }

    fn indexes() -> Vec<Index> {
        vec![Index::in_book("user", "userId")]
    }
}
