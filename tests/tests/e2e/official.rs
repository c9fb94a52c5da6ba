//! Stripe's own SDK as the judge.

use bson::doc;
use hookledger_dev::folder::Folder;
use hookledger_dev::stack::settings::STRIPE_SECRET;
use hookledger_dev::stripe::delivery::plain_client;
use hookledger_tests::{World, official, story};

#[tokio::test]
async fn a_delivery_signed_by_stripes_own_sdk_is_accepted_and_applied() {
    let world = World::new().await.unwrap();
    let ingest = world.ingest().await.unwrap();
    let _worker = world.worker("worker").await.unwrap();
    let sdk = Folder::temporary("sdk").unwrap();
    official::fetch(sdk.path()).await.unwrap();
    let event = story::credit_pack();
    let url = format!(
        "http://{}/webhooks/stripe",
        ingest.address("webhooks").unwrap()
    );
    for (secret, status) in [("whsec_somebody_elses", 400), (STRIPE_SECRET, 200)] {
        let signature = official::sign(sdk.path(), &event.body, secret)
            .await
            .unwrap();
        let request = plain_client()
            .unwrap()
            .post(&url)
            .header("Stripe-Signature", signature);
        let answer = request.body(event.body.clone()).send().await.unwrap();
        assert_eq!(answer.status(), status);
        let stored = u64::from(status == 200);
        assert_eq!(world.count("events", doc! {}).await.unwrap(), stored);
    }
    world.until_drained().await.unwrap();
    assert_eq!(
        world
            .event(&event.id)
            .await
            .unwrap()
            .get_str("outcome")
            .unwrap(),
        "applied"
    );
    world.finish(&[&event.id]).await.unwrap();
}
