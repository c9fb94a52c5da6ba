//! The `invoices` collection: one document an invoice at the provider.

use super::documents::{Domain, Stored};
use super::index::Index;
use crate::model::invoice::Invoice;

/// The `invoices` collection.
pub type Invoices = Domain<Invoice>;

impl Stored for Invoice {
    const NAME: &'static str = "invoices";

    fn key(&self) -> &str {
        &self.id
    }

    fn indexes() -> Vec<Index> {
        vec![Index::in_book("customer", "customerId")]
    }
}
