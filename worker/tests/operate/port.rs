//! The ops port of a running worker.

use std::path::PathBuf;
use std::time::Duration;

use hookledger_dev::mongo::wait;
use hookledger_dev::stack::{Launch, Program};
use hookledger_dev::stripe::delivery::plain_client;
use serde_json::Value;

use crate::bed::{Bed, OPS_TOKEN, SECRETS};
use crate::letters::{KEY, PERSONAL};

const PATIENCE: Duration = Duration::from_secs(30);

async fn worker(bed: &Bed) -> Program {
    let config = bed.config().display().to_string();
    let launch = Launch {
        name: "worker",
        binary: PathBuf::from(env!("CARGO_BIN_EXE_hookledger-worker")),
        arguments: ["--config", &config, "run"].map(str::to_owned).to_vec(),
        environment: Bed::environment(),
        show_log: false,
    };
    Program::start(launch).await.unwrap()
}

/// The status and the text.
async fn get(program: &Program, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let address = program.address("ops").unwrap();
    let mut request = plain_client()
        .unwrap()
        .get(format!("http://{address}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    for secret in SECRETS {
        assert!(!text.contains(secret), "{path} shows {secret}");
    }
    assert!(!text.contains(PERSONAL), "{path}: {text}");
    (status, text)
}

#[tokio::test]
async fn with_a_token_only_probes_are_open_and_the_rest_says_what_the_commands_say() {
    let bed = Bed::new().await;
    bed.dead_event("evt_1", "default", "fault").await;
    bed.dead_message(KEY, "app", "refused").await;
    let worker = worker(&bed).await;
    assert_eq!(get(&worker, "/livez", &[]).await.0, 200);
    wait::until("readiness", PATIENCE, async || {
        Ok((get(&worker, "/readyz", &[]).await.0 == 200).then_some(()))
    })
    .await
    .unwrap();

    let bearer = format!("Bearer {OPS_TOKEN}");
    let token = [("authorization", bearer.as_str())];
    for path in ["/metrics", "/api/lag", "/api/dead-letters", "/nothing"] {
        assert_eq!(get(&worker, path, &[]).await.0, 401, "{path}");
        let wrong = [("authorization", "Bearer token-of-nobody-else")];
        assert_eq!(get(&worker, path, &wrong).await.0, 401, "{path}");
        let expected = if path == "/nothing" { 404 } else { 200 };
        assert_eq!(get(&worker, path, &token).await.0, expected, "{path}");
    }

    let read = async |path: &str| {
        let (_, text) = get(&worker, path, &token).await;
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(read("/api/lag").await["events"]["dead"], 1);
    let listed = bed.run(&["dead-letters", "list", "--json"]).await.json();
    assert_eq!(read("/api/dead-letters").await, listed);
    let path = "/api/dead-letters?what=message&kind=refused&about=email.receipt&place=app&limit=1";
    let filtered = read(path).await;
    assert_eq!(filtered["messages"][0]["key"], KEY);
    assert_eq!(filtered["events"].as_array().unwrap().len(), 0);
    // A filter that would be ignored is refused.
    let refused = get(&worker, "/api/dead-letters?knid=fault", &token).await;
    assert_eq!(refused, (400, r#"{"error":"bad_query"}"#.to_owned()));

    let gauge = "hookledger_dead_letters{what=\"event\"} 1";
    wait::until("the gauges", PATIENCE, async || {
        let (_, text) = get(&worker, "/metrics", &token).await;
        Ok(text.contains(gauge).then_some(()))
    })
    .await
    .unwrap();
    assert!(worker.stop(PATIENCE).await.unwrap().success());
}

#[tokio::test]
async fn without_a_token_another_host_name_is_refused() {
    let bed = Bed::new().await;
    let config = std::fs::read_to_string(bed.config()).unwrap();
    bed.configure(&config.replace("ops_token = \"env:OPS\"\n", ""));
    let worker = worker(&bed).await;
    assert_eq!(get(&worker, "/api/lag", &[]).await.0, 200);
    let rebound = [("host", "evil.example")];
    assert_eq!(get(&worker, "/api/lag", &rebound).await.0, 403);
    assert_eq!(get(&worker, "/livez", &rebound).await.0, 200);
}
