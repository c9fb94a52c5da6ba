//! The judge is the official library: what we send is verified by `standardwebhooks` from
//! PyPI, while a secret is rolled, too.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bson::doc;
use bson::oid::ObjectId;

use crate::receiver::{Receiver, Request};
use crate::world::{NEW_SECRET, SECRET, World, http};

/// The library, pinned by version and by digest.
const REQUIREMENT: &str = "standardwebhooks==1.1.0 \
     --hash=sha256:9a88d48a1f198be61517fc7ad328cf58ba02b73f0fbd8941d4213e9c0b6c2a61\n";
const WHEEL: &str = "standardwebhooks-1.1.0-py3-none-any.whl";

/// Reads a delivery from its arguments: secret, body, then name and value of each header.
const VERIFY: &str = "
import sys
from standardwebhooks import Webhook
secret, body, *headers = sys.argv[1:]
Webhook(secret).verify(body, dict(zip(headers[::2], headers[1::2])))
print('verified')
";

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("hookledger-test-{}", ObjectId::new());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn python(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("python3");
    command.current_dir(folder).args(arguments);
    // A wheel of pure Python is imported as it is.
    command.env("PYTHONPATH", folder.join(WHEEL));
    command
        .output()
        .expect("python3 is needed to verify deliveries")
}

/// Has pip fetch the library. A test that can't have its judge fails.
fn fetch(folder: &Path) {
    std::fs::write(folder.join("requirements.txt"), REQUIREMENT).unwrap();
    let download = [
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--require-hashes",
    ];
    let from = ["--dest", ".", "--requirement", "requirements.txt"];
    let fetched = python(folder, &[&download[..], &from[..]].concat());
    assert!(
        fetched.status.success(),
        "pip could not fetch standardwebhooks: {}",
        String::from_utf8_lossy(&fetched.stderr)
    );
}

fn verifies(folder: &Path, secret: &str, request: &Request) -> bool {
    let body = std::str::from_utf8(&request.body).unwrap();
    let mut arguments = vec!["-c", VERIFY, secret, body];
    for (name, value) in &request.headers {
        arguments.extend([name.as_str(), value.as_str()]);
    }
    let judged = python(folder, &arguments);
    let said = String::from_utf8_lossy(&judged.stderr);
    let verified = judged.status.success() && judged.stdout == b"verified\n";
    let rejected = said.contains("WebhookVerificationError");
    assert!(verified || rejected, "the library could not judge: {said}");
    verified
}

async fn sent(secrets: &str) -> Request {
    let receiver = Receiver::start([]).await;
    let sink = http("app", &receiver.url()).replace("[\"env:APP\"]", secrets);
    let world = World::with(&sink).await.unwrap();
    world
        .once(doc! { "name": "Zoë", "amount": 1_900_i64 })
        .await;
    world.deliver().await;
    receiver.only_request()
}

#[tokio::test]
async fn the_official_library_accepts_deliveries_also_while_a_secret_is_rolled() {
    let folder = Folder::new();
    fetch(&folder.0);
    let before = sent("[\"env:APP\"]").await;
    let during = sent("[\"env:NEW\", \"env:APP\"]").await;
    let after = sent("[\"env:NEW\"]").await;
    for (request, old_accepts, new_accepts) in [
        (&before, true, false),
        (&during, true, true),
        (&after, false, true),
    ] {
        assert_eq!(verifies(&folder.0, SECRET, request), old_accepts);
        assert_eq!(verifies(&folder.0, NEW_SECRET, request), new_accepts);
    }
    let mut forged = during;
    let amount = forged
        .body
        .windows(4)
        .position(|window| window == b"1900")
        .unwrap();
    forged.body[amount] = b'9';
    assert!(!verifies(&folder.0, SECRET, &forged));
}
