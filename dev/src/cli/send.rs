//! `cargo dev send`: signs one event as Stripe does and sends it to a running ingest.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use hookledger_shared::clock;

use crate::environment;
use crate::stack::settings::STRIPE_SECRET;
use crate::stripe::delivery::Sender;
use crate::stripe::template;

#[derive(Args)]
pub(super) struct Arguments {
    /// A JSON file, sent byte by byte as it is; or a type such as customer.subscription.updated.
    event: String,
    /// Where ingest listens.
    #[arg(long, default_value = "http://127.0.0.1:8080/webhooks/stripe")]
    url: String,
    /// The endpoint's signing secret; when absent STRIPE_WEBHOOK_SECRET, else that of
    /// `cargo dev`.
    #[arg(long)]
    secret: Option<String>,
}

pub(super) async fn run(arguments: Arguments) -> Result<ExitCode> {
    let secret = arguments.secret.or_else(environment::stripe_webhook_secret);
    let secret = secret.unwrap_or_else(|| STRIPE_SECRET.to_owned());
    let body = body(&arguments.event)?;
    let answer = Sender::new(&arguments.url, &secret)?
        .send(&body, clock::unix_seconds())
        .await;
    let answer = answer.with_context(|| format!("sending to {}", arguments.url))?;
    println!("{} {}", answer.status, answer.body);
    Ok(if answer.status.is_success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What to send: the file's bytes, or a new event of the type.
fn body(event: &str) -> Result<Vec<u8>> {
    if Path::new(event).is_file() {
        return std::fs::read(event).with_context(|| format!("cannot read {event}"));
    }
    let Some(known) = template::event(event, fastrand::u64(..), clock::unix_seconds()) else {
        bail!(
            "{event} is neither a file nor one of: {}",
            template::kinds().join(", ")
        );
    };
    println!("{} {}", known.kind, known.id);
    Ok(known.body.into_bytes())
}
