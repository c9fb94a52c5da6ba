//! The worker: claims ledger events, applies each in one transaction, drains the outbox.
//!
//! Reading order: [`app`] (what starts and stops), [`event`] (what one event goes through),
//! [`handler`] (the rules, pure) over [`stripe`] (reading Stripe), [`fold`] (the rules without
//! a database), [`outbox`] (what one message goes through), [`repair`] (asking Stripe where
//! events can't tell), [`service`] (the loops), [`ops`] and [`cli`] (operators), [`rebuild`]
//! (the documents, again from the ledger).
//!
//! Not here: MongoDB's queries (`hookledger_shared::store`) and signatures of providers
//! (the ingest crate).

pub mod app;
pub mod cli;
pub mod event;
pub mod fold;
pub mod handler;
pub mod ops;
pub mod outbox;
pub mod rebuild;
pub mod repair;
pub mod service;
pub mod stripe;
