//! What repair promises, without a database: the rules, the plan and a Stripe that holds
//! the truth.

mod asking;
mod checks;
mod ends;
mod lives;
mod plans;
mod stripe;
