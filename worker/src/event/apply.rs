//! Writes what a rule decided, inside the event's transaction: documents, entries with
//! their balances, and one outbox row an effect and destination. Database errors go back as
//! they are.

use std::time::Duration;

use hookledger_shared::config::Routing;
use hookledger_shared::model::event::LedgerEvent;
use hookledger_shared::model::outbox::{CausedBy, OnceMessage, StateMessage};
use hookledger_shared::store::Stores;
use mongodb::ClientSession;
use mongodb::error::Error;

use crate::handler::{Changes, Effect};

/// Writes all of it.
pub async fn apply(
    stores: &Stores,
    session: &mut ClientSession,
    event: &LedgerEvent,
    changes: Changes,
    routing: &Routing,
    settle: Duration,
) -> Result<(), Error> {
    write(stores, session, &changes).await?;
    for effect in changes.effects {
        enqueue(stores, session, event, effect, routing, settle).await?;
    }
    Ok(())
}

async fn write(
    stores: &Stores,
    session: &mut ClientSession,
    changes: &Changes,
) -> Result<(), Error> {
    for subscription in &changes.subscriptions {
        stores.subscriptions.save(session, subscription).await?;
    }
    for customer in &changes.customers {
        stores.customers.save(session, customer).await?;
    }
    for checkout in &changes.checkouts {
        stores.checkouts.save(session, checkout).await?;
    }
    for invoice in &changes.invoices {
        stores.invoices.save(session, invoice).await?;
    }
    for payment in &changes.payments {
        stores.payments.save(session, payment).await?;
    }
    for purchase in &changes.purchases {
        stores.purchases.save(session, purchase).await?;
    }
    for entry in &changes.entries {
        stores.credit_entries.append(session, entry).await?;
        stores.credit_accounts.book(session, entry).await?;
    }
    Ok(())
}

/// One row for each sink that the topic is routed to.
async fn enqueue(
    stores: &Stores,
    session: &mut ClientSession,
    event: &LedgerEvent,
    effect: Effect,
    routing: &Routing,
    settle: Duration,
) -> Result<(), Error> {
    let caused_by = CausedBy {
        provider: event.provider.clone(),
        scope: event.scope.clone(),
        event_id: event.event_id.clone(),
    };
    match effect {
        Effect::Once {
            key,
            topic,
            payload,
        } => {
            for destination in routing.destinations(topic.as_str()) {
                let message = OnceMessage {
                    key: key.clone(),
                    topic: topic.as_str().to_owned(),
                    destination: destination.clone(),
                    payload: payload.clone(),
                    caused_by: caused_by.clone(),
                };
                stores.outbox.enqueue_once(session, &message).await?;
            }
        }
        Effect::State {
            key,
            topic,
            subject,
            version,
            payload,
        } => {
            for destination in routing.destinations(topic.as_str()) {
                let message = StateMessage {
                    key: key.clone(),
                    topic: topic.as_str().to_owned(),
                    subject: subject.clone(),
                    version,
                    destination: destination.clone(),
                    payload: payload.clone(),
                    caused_by: caused_by.clone(),
                };
                let queued = stores.outbox.enqueue_state(session, &message, settle);
                queued.await?;
            }
        }
    }
    Ok(())
}
