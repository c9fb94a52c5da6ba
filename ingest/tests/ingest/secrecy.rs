//! Secrets, signatures and bodies stay out of everything that is written.

use hookledger_dev::mongo::{FailPoint, shared, wait};
use hookledger_dev::stripe::sign;
use hookledger_shared::clock;

use crate::rig::program::{ConfigFile, Program};
use crate::rig::{PATIENCE, SECRET, client, named, new_database};

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_signature_or_body_is_ever_logged_counted_or_answered() {
    let (uri, database) = (shared::uri().await.unwrap(), new_database());
    let config = ConfigFile::usual(&named(&uri, &database), &database);
    let program = Program::start(&config, "trace").await;
    let client = client();
    let post = async |body: &str, signature: String| {
        let url = format!("http://{}/webhooks/stripe", program.webhooks);
        let request = client.post(url).header("Stripe-Signature", signature);
        let response = request.body(body.to_owned()).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let good = r#"{"id":"evt_1","data":{"object":{"email":"marker@example.com"}}}"#;
    let broken = r#"{"id":"evt_2","email":"marker@example.com""#;
    let signed = |body: &str| sign::header(body.as_bytes(), SECRET, clock::unix_seconds());
    let mut answers = String::new();
    wait::until("the first delivery", PATIENCE, async || {
        Ok((post(good, signed(good)).await.0 == 200).then_some(()))
    })
    .await
    .unwrap();
    // What goes wrong is logged, so make everything go wrong.
    let failing = FailPoint::on_commands(["insert"])
        .app_name(&database)
        .error_code(8_000)
        .times(1);
    let armed = failing.arm(&uri).await.unwrap();
    for (body, signature, status) in [
        (broken, signed(broken), 503),
        (broken, signed(broken), 200),
        (good, signed(good), 200),
        (good, signed(broken), 400),
        (good, format!("{},junk", signed(good)), 400),
    ] {
        let (answered, text) = post(body, signature).await;
        assert_eq!(answered, status, "{text}");
        answers += &text;
    }
    armed.off().await.unwrap();
    let metrics = client.get(format!("http://{}/metrics", program.ops)).send();
    let metrics = metrics.await.unwrap().text().await.unwrap();
    program.terminate().await;
    let written = program.ended().await.written + &metrics + &answers;

    assert!(
        written.contains("could not be stored"),
        "nothing was logged at all"
    );
    let signature = signed(good);
    let hex = signature.split("v1=").nth(1).unwrap().get(..16).unwrap();
    for hidden in [SECRET, &SECRET[6..], "marker@example.com", "v1=", hex] {
        assert!(!written.contains(hidden), "{hidden} was written");
    }
}
