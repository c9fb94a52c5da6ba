//! The store's promises on a real mongod: each test fails when its rule is taken away.

mod bed;
mod claims;
mod fences;
mod indexes;
mod inserts;
mod sessions;
