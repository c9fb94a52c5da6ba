//! The `checkouts` collection: one document a checkout session.

use super::documents::{Domain, Stored};
use super::index::Index;
use crate::model::checkout::Checkout;

/// The `checkouts` collection.
pub type Checkouts = Domain<Checkout>;

impl Stored for Checkout {
    const NAME: &'static str = "checkouts";

    fn key(&self) -> &str {
        &self.id
    }

    fn indexes() -> Vec<Index> {
        vec![Index::in_book("customer", "customerId")]
    }
}
