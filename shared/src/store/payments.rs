//! The `payments` collection: one document a payment at the provider.

use super::documents::{Domain, Stored};
use super::index::Index;
use crate::model::payment::Payment;

/// The `payments` collection.
pub type Payments = Domain<Payment>;

impl Stored for Payment {
    const NAME: &'static str = "payments";

    fn key(&self) -> &str {
        &self.id
    }

    fn indexes() -> Vec<Index> {
        vec![Index::in_book("customer", "customerId")]
    }
}
