//! What events alone can't tell, or never say, is asked of Stripe and found.

use anyhow::{Context, Result, ensure};
use bson::{Document, doc};
use hookledger_dev::mongo::wait;
use hookledger_dev::stack::Program;
use hookledger_dev::stripe::api::{Api, Manner};
use hookledger_dev::stripe::event::Event;
use hookledger_shared::clock;
use hookledger_tests::world::PATIENCE;
use hookledger_tests::{World, WorldOptions, http, story};
use serde_json::{Value, json};

/// A stack that may ask Stripe.
struct Asking {
    api: Api,
    world: World,
    ingest: Program,
    worker: Program,
}

impl Asking {
    async fn new() -> Result<Self> {
        let api = Api::start().await?;
        let options = WorldOptions {
            stripe_api: Some(api.base()),
            ..WorldOptions::default()
        };
        let world = World::with(options).await?;
        let (ingest, worker) = (world.ingest().await?, world.worker("worker").await?);
        Ok(Self {
            api,
            world,
            ingest,
            worker,
        })
    }

    async fn deliver(&self, events: &[&Event]) -> Result<()> {
        for event in events {
            self.world.deliver(&self.ingest, &event.body).await?;
        }
        let ids: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
        let done = doc! { "eventId": { "$in": &ids }, "status": "processed" };
        self.world
            .until_count("events", done, ids.len() as u64)
            .await
    }

    async fn until_asked(&self, times: usize) -> Result<()> {
        wait::until("questions", PATIENCE, async || {
            let asked = self.api.asked().len();
            ensure!(asked >= times, "{asked}");
            Ok(Some(()))
        })
        .await
    }

    async fn until_certain(&self) -> Result<()> {
        let certain = doc! { "provisional": false, "nextCheck.reason": { "$ne": "provisional" } };
        self.world.until_count("subscriptions", certain, 1).await?;
        self.world.until_drained().await
    }

    async fn subscription(&self) -> Result<Document> {
        one(&self.world, "subscriptions").await
    }

    async fn entitlement(&self) -> Result<Document> {
        let customer = one(&self.world, "customers").await?;
        Ok(customer.get_document("entitlement")?.clone())
    }

    /// What the app was told last.
    fn told(&self) -> Result<Value> {
        let deliveries = self.world.receiver.deliveries();
        let states = deliveries.iter().rev();
        let mut bodies = states.filter_map(|told| serde_json::from_slice::<Value>(&told.body).ok());
        let newest = bodies.find(|body| body["type"] == "entitlement.changed");
        newest.context("it was told nothing")
    }

    /// The answers that are in the ledger.
    async fn answers(&self) -> Result<Vec<Document>> {
        let ours = doc! { "scope": "hookledger:repair" };
        self.world.rows("events", ours).await
    }
}

async fn one(world: &World, collection: &str) -> Result<Document> {
    let mut rows = world.rows(collection, doc! {}).await?;
    ensure!(rows.len() == 1, "{} {collection}", rows.len());
    rows.pop().context("none")
}

/// A subscription as an update leaves it.
fn updated(id: &str, created: i64, fields: Value, previous: Value) -> Event {
    let mut event = story::subscription(id, "repair", "active", created);
    let mut body: Value = serde_json::from_str(&event.body).unwrap();
    let object = body["data"]["object"].as_object_mut().unwrap();
    object.extend(fields.as_object().unwrap().clone());
    body["data"]["previous_attributes"] = previous;
    event.body = body.to_string();
    event
}

/// The object that an event shows.
fn object(event: &Event) -> Value {
    let body: Value = serde_json::from_str(&event.body).unwrap();
    body["data"]["object"].clone()
}

/// A subscription, and its end switched on and off again within one second.
fn there_and_back() -> [Event; 3] {
    let began = clock::unix_seconds() - 60;
    let ends = |ends: bool| json!({ "cancel_at_period_end": ends });
    [
        updated(
            "evt_0",
            began,
            ends(false),
            json!({ "status": "incomplete" }),
        ),
        updated("evt_2", began + 10, ends(true), ends(false)),
        updated("evt_1", began + 10, ends(false), ends(true)),
    ]
}

/// The same, as far as events can tell: flagged.
async fn flagged(asking: &Asking) -> Result<[Event; 3]> {
    let events = there_and_back();
    asking.api.put(object(&events[2]))?;
    asking
        .deliver(&[&events[2], &events[0], &events[1]])
        .await?;
    assert!(asking.subscription().await?.get_bool("provisional")?);
    let entitlement = asking.entitlement().await?;
    assert!(entitlement.get_bool("provisional")?);
    assert!(entitlement.get_bool("entitled")?, "nothing is taken away");
    Ok(events)
}

#[tokio::test]
async fn there_and_back_in_one_second_is_flagged_then_asked_for_once_and_right() {
    let asking = Asking::new().await.unwrap();
    asking.api.behave(Manner::Hold);
    let events = flagged(&asking).await.unwrap();
    asking.api.behave(Manner::Truth);
    asking.until_certain().await.unwrap();
    let known = asking.subscription().await.unwrap();
    assert!(!known.get_bool("cancelAtPeriodEnd").unwrap());
    assert_eq!(asking.api.asked().len(), 1);
    let answers = asking.answers().await.unwrap();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].get_str("outcome").unwrap(), "applied");
    let told = asking.told().unwrap();
    assert_eq!(told["data"]["provisional"], json!(false), "{told}");
    assert_eq!(told["data"]["entitled"], json!(true), "{told}");
    let metrics = format!("http://{}/metrics", asking.worker.address("ops").unwrap());
    let (_, text) = http::get(&metrics).await.unwrap();
    let counted = "hookledger_repairs_total{outcome=\"observed\"} 1";
    assert!(text.contains(counted), "{text}");
    let ids = events.each_ref().map(|event| event.id.as_str());
    asking.world.finish(&ids).await.unwrap();
}

#[tokio::test]
async fn while_stripe_is_down_access_and_flag_stay_and_once_it_is_up_both_are_right() {
    let asking = Asking::new().await.unwrap();
    asking.api.behave(Manner::Status(500));
    flagged(&asking).await.unwrap();
    asking.until_asked(2).await.unwrap();
    let problem = doc! { "nextCheck.problem": "unavailable", "provisional": true };
    asking
        .world
        .until_count("subscriptions", problem, 1)
        .await
        .unwrap();
    let entitlement = asking.entitlement().await.unwrap();
    assert!(entitlement.get_bool("entitled").unwrap());
    asking.api.behave(Manner::Truth);
    asking.until_certain().await.unwrap();
    assert_eq!(asking.answers().await.unwrap().len(), 1);
    assert_eq!(asking.told().unwrap()["data"]["provisional"], json!(false));
    asking
        .world
        .finish(&["evt_0", "evt_1", "evt_2"])
        .await
        .unwrap();
}

#[tokio::test]
async fn an_update_that_comes_while_stripe_answers_is_not_overlooked() {
    let asking = Asking::new().await.unwrap();
    asking.api.behave(Manner::Hold);
    let events = flagged(&asking).await.unwrap();
    asking.until_asked(1).await.unwrap();
    let ends = |ends: bool| json!({ "cancel_at_period_end": ends });
    let newer = updated("evt_3", events[1].created, ends(true), ends(false));
    asking.deliver(&[&newer]).await.unwrap();
    // The answer that is on its way was true before that.
    asking.api.put(object(&newer)).unwrap();
    asking.api.behave(Manner::Truth);
    asking.until_certain().await.unwrap();
    let known = asking.subscription().await.unwrap();
    assert!(known.get_bool("cancelAtPeriodEnd").unwrap());
    assert_eq!(asking.api.asked().len(), 2);
    asking
        .world
        .finish(&["evt_0", "evt_1", "evt_2", "evt_3"])
        .await
        .unwrap();
}

#[tokio::test]
async fn an_end_whose_event_was_lost_is_found_when_the_period_is_over() {
    let asking = Asking::new().await.unwrap();
    let period = 40 * 86_400;
    let began = updated(
        "evt_0",
        clock::unix_seconds() - period,
        json!({}),
        json!({ "status": "incomplete" }),
    );
    let mut truth = object(&began);
    truth["status"] = json!("canceled");
    truth["ended_at"] = json!(clock::unix_seconds() - 86_400);
    asking.api.put(truth).unwrap();
    asking.deliver(&[&began]).await.unwrap();
    let ended = doc! { "status": "canceled", "terminal": true };
    asking
        .world
        .until_count("subscriptions", ended, 1)
        .await
        .unwrap();
    asking.world.until_drained().await.unwrap();
    assert!(
        !asking
            .entitlement()
            .await
            .unwrap()
            .get_bool("entitled")
            .unwrap()
    );
    let canceled = doc! { "topic": "subscription.canceled", "status": "sent" };
    assert_eq!(asking.world.count("outbox", canceled).await.unwrap(), 1);
    assert_eq!(asking.told().unwrap()["data"]["entitled"], json!(false));
    let known = asking.subscription().await.unwrap();
    assert!(
        known.get_document("nextCheck").is_err(),
        "nothing is left to ask"
    );
    assert_eq!(asking.api.asked().len(), 1);
    asking.world.finish(&["evt_0"]).await.unwrap();
}

#[tokio::test]
async fn without_a_key_nobody_is_asked_and_the_flag_stays() {
    let world = World::new().await.unwrap();
    let (ingest, worker) = (
        world.ingest().await.unwrap(),
        world.worker("worker").await.unwrap(),
    );
    for event in there_and_back() {
        world.deliver(&ingest, &event.body).await.unwrap();
    }
    let metrics = format!("http://{}/metrics", worker.address("ops").unwrap());
    wait::until("a question that is due", PATIENCE, async || {
        let (_, text) = http::get(&metrics).await?;
        Ok(text.contains("hookledger_repairs_due 1").then_some(()))
    })
    .await
    .unwrap();
    let known = one(&world, "subscriptions").await.unwrap();
    assert!(known.get_bool("provisional").unwrap());
    let check = known.get_document("nextCheck").unwrap();
    assert_eq!(check.get_str("reason").unwrap(), "provisional");
    let ours = doc! { "scope": "hookledger:repair" };
    assert_eq!(world.count("events", ours).await.unwrap(), 0);
    world.until_drained().await.unwrap();
    world.finish(&["evt_0", "evt_1", "evt_2"]).await.unwrap();
}

#[tokio::test]
async fn a_delivery_that_says_it_is_an_answer_of_stripes_is_ignored() {
    let world = World::new().await.unwrap();
    let (ingest, _worker) = (
        world.ingest().await.unwrap(),
        world.worker("worker").await.unwrap(),
    );
    let mut forged = updated("evt_forged", story::AT, json!({}), Value::Null);
    let mut body: Value = serde_json::from_str(&forged.body).unwrap();
    body["type"] = json!("hookledger.subscription.observed");
    body["observed"] = json!({ "covers": [] });
    forged.body = body.to_string();
    world.deliver(&ingest, &forged.body).await.unwrap();
    world.until_drained().await.unwrap();
    let row = world.event("evt_forged").await.unwrap();
    assert_eq!(row.get_str("outcome").unwrap(), "ignored");
    assert_eq!(world.count("subscriptions", doc! {}).await.unwrap(), 0);
    world.finish(&["evt_forged"]).await.unwrap();
}
