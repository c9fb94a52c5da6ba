//! Writes conflict on purpose: of two transactions that have read the same document the
//! second to write it runs again, also when what it writes is equal to what stands there.

use hookledger_shared::model::book::Book;
use hookledger_shared::model::customer::Customer;
use hookledger_shared::store::Stores;
use hookledger_shared::store::transaction::{Slot, Verdict, Work};
use mongodb::ClientSession;
use mongodb::error::Error;

use crate::bed::{self, LIMIT};

const KEY: &str = "self:test:cus_1";

/// Reads the customer and writes it as it is.
struct Writes<'a>(&'a Stores);

impl Work for Writes<'_> {
    type Output = ();

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<()>, Error> {
        let customer = self.0.customers.find(session, KEY).await?;
        let unknown = || Customer::unknown(&Book::new(None, false), "cus_1");
        let customer = customer.unwrap_or_else(unknown);
        self.0.customers.save(session, &customer).await?;
        Ok(Verdict::Commit(()))
    }
}

/// Reads it, lets another transaction happen as a whole, and writes it as it was read.
struct WritesLate<'a> {
    stores: &'a Stores,
    other: Option<&'a mut Slot>,
}

impl Work for WritesLate<'_> {
    type Output = ();

    async fn run(&mut self, session: &mut ClientSession) -> Result<Verdict<()>, Error> {
        let customer = self.stores.customers.find(session, KEY).await?.unwrap();
        if let Some(slot) = self.other.take() {
            let mut other = Writes(self.stores);
            let ended = slot.in_transaction(LIMIT, &mut other).await.unwrap();
            assert!(ended.committed);
        }
        self.stores.customers.save(session, &customer).await?;
        Ok(Verdict::Commit(()))
    }
}

#[tokio::test]
async fn two_transactions_that_write_what_stands_there_already_conflict() {
    let stores = bed::stores().await;
    let mut slots = [
        Slot::open(&stores).await.unwrap(),
        Slot::open(&stores).await.unwrap(),
    ];
    let [mine, others] = &mut slots;
    mine.in_transaction(LIMIT, &mut Writes(&stores))
        .await
        .unwrap();
    let mut late = WritesLate {
        stores: &stores,
        other: Some(others),
    };
    let ended = mine.in_transaction(LIMIT, &mut late).await.unwrap();
    assert!(ended.committed);
    assert_eq!(ended.reruns, 1, "it did not see that another had written");
}
