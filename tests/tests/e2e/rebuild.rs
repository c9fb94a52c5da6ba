//! The ledger says what the state must be: compared while ingest and workers run, and
//! brought back with the consumer told.

use anyhow::{Context, Result, ensure};
use bson::{Document, doc};
use hookledger_dev::mongo::wait;
use hookledger_dev::stripe::history::History;
use hookledger_tests::world::PATIENCE;
use hookledger_tests::{World, story};
use serde_json::Value;

/// Runs `rebuild` and reads what it found; its exit code says the same.
async fn rebuild(world: &World, more: &[&str]) -> Result<Value> {
    let arguments = [&["rebuild", "--json"], more].concat();
    let output = world.stack.command(&arguments).output().await?;
    let text = String::from_utf8(output.stdout)?;
    let report: Value = serde_json::from_str(&text).with_context(|| {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("{text}{errors}")
    })?;
    let equal = report["equal"] == true;
    ensure!(equal == output.status.success(), "{report:#}");
    Ok(report)
}

fn found(report: &Value) -> u64 {
    report["counts"]["differences"].as_u64().unwrap_or(u64::MAX)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_finds_damage_and_nothing_else_while_deliveries_come_in() {
    let world = World::new().await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let (_one, _two) = (
        world.worker("one").await.unwrap(),
        world.worker("two").await.unwrap(),
    );
    let first = History::new(1, story::AT);
    for event in first.deliveries() {
        world.deliver(&ingest, &event.body).await.unwrap();
    }
    world.until_drained().await.unwrap();
    assert_eq!(found(&rebuild(&world, &["--check"]).await.unwrap()), 0);

    let customer = format!("self:test:{}", first.actors.customer);
    let versions = async || -> Result<Vec<i64>> {
        let key = format!("self:test:entitlement:{}", first.actors.customer);
        let ids = world.receiver.counts().into_keys();
        let versions = ids.filter_map(|id| {
            let version = id.strip_prefix(&key)?.strip_prefix(':')?;
            version.parse().ok()
        });
        Ok(versions.collect())
    };
    let told = versions().await.unwrap().into_iter().max().unwrap();
    let customers = world.database.collection::<Document>("customers");
    let taken = doc! { "$set": { "entitlement.entitled": false } };
    let changed = customers.update_one(doc! { "_id": &customer }, taken).await;
    assert_eq!(changed.unwrap().modified_count, 1);

    // Other customers' deliveries come in meanwhile.
    let others: Vec<_> = (2..4).map(|seed| History::new(seed, story::AT)).collect();
    let deliver = async {
        for event in others.iter().flat_map(History::deliveries) {
            world.deliver(&ingest, &event.body).await.unwrap();
        }
    };
    let repair = async { rebuild(&world, &[]).await.unwrap() };
    let ((), report) = tokio::join!(deliver, repair);
    assert_eq!(found(&report), 1, "{report:#}");
    assert_eq!(report["differences"][0]["key"], customer.as_str());
    assert_eq!(report["counts"]["repaired"], 1, "{report:#}");
    wait::until("the consumer to be told", PATIENCE, async || {
        Ok(versions()
            .await?
            .iter()
            .any(|version| *version > told)
            .then_some(()))
    })
    .await
    .unwrap();
    world.until_drained().await.unwrap();
    let report = rebuild(&world, &["--check"]).await.unwrap();
    assert_eq!(
        (found(&report), report["equal"] == true),
        (0, true),
        "{report:#}"
    );
    assert_eq!(world.count("audit", doc! {}).await.unwrap(), 1);
    let ids = others
        .iter()
        .chain([&first])
        .flat_map(|history| &history.events);
    let ids: Vec<_> = ids.map(|event| event.id.as_str()).collect();
    world.finish(&ids).await.unwrap();
}
