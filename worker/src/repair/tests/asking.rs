//! One question over real HTTP.

use std::time::Duration;

use hookledger_dev::stripe::api::{Api, KEY, Manner};
use hookledger_shared::config::{Secret, StripeApi};
use hookledger_shared::model::subscription::Subscription;
use serde_json::json;

use super::super::client::{Answer, Client, Trouble};
use super::stripe::{Stripe, object, sub};
use crate::handler::tests::story::created;

fn settings(base: &str, key: &str) -> StripeApi {
    StripeApi {
        key: Secret::new(key),
        livemode: false,
        base: base.parse().unwrap(),
    }
}

fn known() -> Subscription {
    let mut stripe = Stripe::of(json!({}));
    stripe.take([&created("e1", 10, sub(json!({})))]);
    stripe.known().clone()
}

async fn ask(api: &Api, subscription: &Subscription) -> Answer {
    let client = Client::new(&settings(&api.base(), KEY)).unwrap();
    client.subscription(subscription).await
}

#[tokio::test]
async fn an_object_is_asked_for_by_its_id_in_its_account() {
    let api = Api::start().await.unwrap();
    let truth = sub(json!({ "status": "past_due" }));
    api.put(truth.clone()).unwrap();
    assert_eq!(ask(&api, &known()).await, Answer::Object(object(&truth)));
    let mut connected = known();
    "acct_1".clone_into(&mut connected.account);
    ask(&api, &connected).await;
    let asked = api.asked();
    assert!(
        asked
            .iter()
            .all(|asked| asked.path == "/v1/subscriptions/sub_1")
    );
    assert_eq!(asked[0].header("stripe-account"), None);
    assert_eq!(asked[1].header("stripe-account"), Some("acct_1"));
    assert!(asked[0].header("stripe-version").is_some());
}

#[tokio::test]
async fn every_bad_answer_is_told_from_every_other() {
    let api = Api::start().await.unwrap();
    assert_eq!(ask(&api, &known()).await, Answer::Missing);
    let limit = Some(Duration::from_secs(7));
    for (manner, answer) in [
        (
            Manner::Status(500),
            Answer::Unavailable(Trouble::Status(500)),
        ),
        (
            Manner::Status(302),
            Answer::Unavailable(Trouble::Status(302)),
        ),
        (Manner::Status(400), Answer::Unreadable),
        (Manner::Status(403), Answer::Refused(403)),
        (Manner::Limit(7), Answer::Limited(limit)),
        (Manner::Garbage, Answer::Unreadable),
        (Manner::Big, Answer::Unreadable),
    ] {
        api.behave(manner.clone());
        assert_eq!(ask(&api, &known()).await, answer, "{manner:?}");
    }
    api.behave(Manner::Truth);
    let stranger = Client::new(&settings(&api.base(), "rk_test_a_key_of_others")).unwrap();
    assert_eq!(stranger.subscription(&known()).await, Answer::Refused(401));
}

#[tokio::test]
async fn silence_ends_in_time_and_nobody_there_is_told_from_it() {
    let api = Api::start().await.unwrap();
    api.behave(Manner::Hold);
    let impatient = Duration::from_millis(50);
    let client = Client::with(&settings(&api.base(), KEY), impatient).unwrap();
    let silence = Answer::Unavailable(Trouble::TimedOut);
    assert_eq!(client.subscription(&known()).await, silence);
    // A port that was free a moment ago.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let client = Client::new(&settings(&base, KEY)).unwrap();
    let nobody = Answer::Unavailable(Trouble::Unreachable);
    assert_eq!(client.subscription(&known()).await, nobody);
}

#[tokio::test]
async fn an_odd_id_or_account_asks_for_nothing_else() {
    let api = Api::start().await.unwrap();
    for id in ["", ".", "..", "../customers/cus_1", "a/b?c#d"] {
        let mut odd = known();
        id.clone_into(&mut odd.subscription_id);
        assert_eq!(ask(&api, &odd).await, Answer::Missing, "{id}");
    }
    let mut odd = known();
    "acct\n1".clone_into(&mut odd.account);
    assert_eq!(ask(&api, &odd).await, Answer::Missing);
    for asked in api.asked() {
        let rest = asked.path.strip_prefix("/v1/subscriptions/").unwrap();
        assert!(!rest.is_empty() && !rest.contains('/'), "{}", asked.path);
    }
}

#[tokio::test]
async fn the_key_is_never_shown() {
    let client = Client::new(&settings("http://127.0.0.1:1", KEY)).unwrap();
    assert!(!format!("{client:?}").contains(KEY));
}
