//! `cargo dev`: a local replica set, ingest and a worker, until Ctrl-C.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use hookledger_shared::shutdown::{self, Shutdown};

use crate::folder::Folder;
use crate::mongo::{Deployment, ReplicaSetOptions};
use crate::stack::{Program, Stack, StackSettings};
use crate::stripe::api::Api;

/// The database of `cargo dev`.
const DATABASE: &str = "hookledger";
/// Where its Stripe API listens, as Stripe's own stand-in does.
const STRIPE_API: &str = "127.0.0.1:12111";
/// How long a program may take to stop: its own grace, and a little.
const STOP_LIMIT: Duration = Duration::from_secs(30);

pub(super) async fn run() -> Result<ExitCode> {
    let (trigger, shutdown) = Shutdown::new();
    shutdown::on_signals(trigger)?;
    eprintln!("starting MongoDB, building ingest and worker …");
    let deployment = Deployment::open(&ReplicaSetOptions::for_development()).await?;
    let folder = Folder::temporary("dev")?;
    let mut settings = StackSettings::on_free_ports(&deployment.uri(), DATABASE);
    "127.0.0.1:8080".clone_into(&mut settings.bind);
    "127.0.0.1:8081".clone_into(&mut settings.ingest_ops);
    "127.0.0.1:9090".clone_into(&mut settings.worker_ops);
    let api = Api::start_at(STRIPE_API).await;
    let api = api.context("is another `cargo dev` running?")?;
    settings.stripe_api = Some(api.base());
    let mut stack = Stack::prepare(&settings, folder.path()).await?;
    stack.show_logs = true;
    let ingest = stack.ingest("hookledger-ingest").await;
    let ingest = ingest.context("is another `cargo dev` running?")?;
    let worker = stack.worker("hookledger-worker").await?;
    tell(&deployment.uri(), &stack, &ingest, &worker)?;
    shutdown.requested().await;
    eprintln!("stopping …");
    ingest.stop(STOP_LIMIT).await?;
    worker.stop(STOP_LIMIT).await?;
    Ok(ExitCode::SUCCESS)
}

fn tell(uri: &str, stack: &Stack, ingest: &Program, worker: &Program) -> Result<()> {
    let (webhooks, ingest_ops) = (ingest.address("webhooks")?, ingest.address("ops")?);
    let worker_ops = worker.address("ops")?;
    let config = stack.config().display();
    println!(
        "
Hookledger is running. Everything here is for development and gone at Ctrl-C.

  webhooks   http://{webhooks}/webhooks/stripe
  ingest     http://{ingest_ops}/readyz  /metrics
  worker     http://{worker_ops}/readyz  /metrics  /api/lag  /api/dead-letters
  mongodb    {uri}  (database {DATABASE})
  stripe api http://{STRIPE_API}  what the worker asks when events can't tell; knows what is PUT there
  config     {config}

Try, in another terminal:

  cargo dev send customer.subscription.updated
  curl -s http://{worker_ops}/api/lag
  curl -X PUT http://{STRIPE_API}/v1/subscriptions/sub_1 -d @subscription.json
  stripe listen --forward-to http://{webhooks}/webhooks/stripe   (with your own secret in the config)
"
    );
    Ok(())
}
