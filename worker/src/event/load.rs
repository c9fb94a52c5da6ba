//! Reads what a rule asks for, inside the event's transaction. What is found may make the
//! rule ask for more, so it is asked until it needs nothing new.

use hookledger_shared::model::book::Book;
use hookledger_shared::store::Stores;
use mongodb::ClientSession;
use mongodb::error::Error;

use crate::handler::{Facts, Input, Need};

/// Every fact that the rule needs. Database errors go back as they are.
pub async fn load(
    stores: &Stores,
    session: &mut ClientSession,
    input: &Input,
) -> Result<Facts, Error> {
    let mut facts = Facts::default();
    loop {
        let mut needs = input.needs(&facts);
        needs.retain(|need| !facts.answer(need));
        if needs.is_empty() {
            return Ok(facts);
        }
        for need in needs {
            read(stores, session, &input.event.book, need, &mut facts).await?;
        }
    }
}

/// Reads one thing; again only if a rule asked for it twice.
async fn read(
    stores: &Stores,
    session: &mut ClientSession,
    book: &Book,
    need: Need,
    facts: &mut Facts,
) -> Result<(), Error> {
    match need {
        Need::Subscription(id) => {
            let found = stores.subscriptions.find(session, &book.key(&id)).await?;
            facts.subscriptions.insert(id, found);
        }
        Need::Customer(id) => {
            let found = stores.customers.find(session, &book.key(&id)).await?;
            facts.customers.insert(id, found);
        }
        Need::SubscriptionsOf(id) => {
            let found = stores.subscriptions.of_customer(session, book, &id).await?;
            facts.subscriptions_of.insert(id, found);
        }
        Need::Checkout(id) => {
            let found = stores.checkouts.find(session, &book.key(&id)).await?;
            facts.checkouts.insert(id, found);
        }
        Need::Invoice(id) => {
            let found = stores.invoices.find(session, &book.key(&id)).await?;
            facts.invoices.insert(id, found);
        }
        Need::Payment(id) => {
            let found = stores.payments.find(session, &book.key(&id)).await?;
            facts.payments.insert(id, found);
        }
        Need::Purchase(id) => {
            let found = stores.purchases.find(session, &book.key(&id)).await?;
            facts.purchases.insert(id, found);
        }
        Need::EntriesOf(id) => {
            let found = stores
                .credit_entries
                .of_purchase(session, book, &id)
                .await?;
            facts.entries_of.insert(id, found);
        }
    }
    Ok(())
}
