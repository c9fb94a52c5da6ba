//! Plain data that both processes agree on, one file a document type. No database, no
//! clock, no rules: those live in `store` and in the worker's handlers.

pub mod book;
pub mod checkout;
pub mod credit;
pub mod customer;
pub mod event;
pub mod invoice;
pub mod lease;
pub mod observation;
pub mod outbox;
pub mod payment;
pub mod purchase;
pub mod register;
pub mod subscription;
