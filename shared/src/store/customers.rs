//! The `customers` collection: one document a customer at the provider.

use super::documents::{Domain, Stored};
use super::index::Index;
use crate::model::customer::Customer;

/// The `customers` collection.
pub type Customers = Domain<Customer>;

impl Stored for Customer {
    const NAME: &'static str = "customers";

    fn key(&self) -> &str {
        &self.id
    }

    fn indexes() -> Vec<Index> {
        vec![Index::in_book("user", "userId")]
    }
}
