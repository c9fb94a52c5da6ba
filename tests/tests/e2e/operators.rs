//! What operators see and do: lag while the worker is down, a dead letter from listing to
//! its second life.

use anyhow::{Context, Result};
use bson::doc;
use hookledger_dev::mongo::wait;
use hookledger_tests::world::PATIENCE;
use hookledger_tests::{World, story};
use serde_json::Value;

/// Runs a command of the worker's and reads what it prints.
async fn command(world: &World, arguments: &[&str]) -> Result<Value> {
    let output = world.stack.command(arguments).output().await?;
    let text = String::from_utf8(output.stdout)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{arguments:?}: {text}{errors}");
    serde_json::from_str(&text).with_context(|| text)
}

async fn lag(world: &World) -> Result<f64> {
    let lag = command(world, &["lag", "--json"]).await?;
    lag["events"]["lagSeconds"]
        .as_f64()
        .with_context(|| lag.to_string())
}

#[tokio::test]
async fn lag_rises_while_the_worker_is_down_and_falls_when_it_is_back() {
    let world = World::new().await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let event = story::credit_pack();
    world.deliver(&ingest, &event.body).await.unwrap();
    let first = wait::until("some lag", PATIENCE, async || {
        let lag = lag(&world).await?;
        Ok((lag > 0.0).then_some(lag))
    });
    let first = first.await.unwrap();
    wait::until("more lag", PATIENCE, async || {
        Ok((lag(&world).await? > first).then_some(()))
    })
    .await
    .unwrap();
    let _worker = world.worker("worker").await.unwrap();
    world.until_drained().await.unwrap();
    assert_eq!(lag(&world).await.unwrap(), 0.0);
    world.finish(&[&event.id]).await.unwrap();
}

#[tokio::test]
async fn a_dead_letter_is_listed_shown_retried_and_applied() {
    let world = World::new().await.unwrap();
    let (ingest, _worker) = (
        world.ingest().await.unwrap(),
        world.worker("worker").await.unwrap(),
    );
    world.until_count("workers", doc! {}, 1).await.unwrap();
    let customers = world.database.collection::<bson::Document>("customers");
    let broken = doc! { "_id": "self:test:cus_poison", "links": 5 };
    customers.insert_one(broken).await.unwrap();
    let event = story::subscription("evt_poison", "poison", "active", story::AT);
    world.deliver(&ingest, &event.body).await.unwrap();
    world
        .until_count("events", doc! { "status": "dead" }, 1)
        .await
        .unwrap();

    let listed = command(&world, &["dead-letters", "list", "--json"])
        .await
        .unwrap();
    assert!(listed.to_string().contains("evt_poison"), "{listed}");
    let shown = command(&world, &["dead-letters", "show", "evt_poison", "--json"])
        .await
        .unwrap();
    assert!(shown.to_string().contains("lastError"), "{shown}");

    // Fixed, then retried.
    customers
        .delete_one(doc! { "_id": "self:test:cus_poison" })
        .await
        .unwrap();
    command(&world, &["dead-letters", "retry", "evt_poison", "--json"])
        .await
        .unwrap();
    world.until_drained().await.unwrap();
    let row = world.event("evt_poison").await.unwrap();
    assert_eq!(row.get_str("outcome").unwrap(), "applied");
    assert_eq!(
        world.count("audit", doc! {}).await.unwrap(),
        1,
        "the act is on record"
    );
    let listed = command(&world, &["dead-letters", "list", "--json"])
        .await
        .unwrap();
    assert!(!listed.to_string().contains("evt_poison"), "{listed}");
    world.finish(&["evt_poison"]).await.unwrap();
}
