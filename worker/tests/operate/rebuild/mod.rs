//! `rebuild`: after whatever was processed the live state is what the ledger says; damage is
//! found, named and undone; what the ledger can't tell is left alone.
//!
//! - [`stories`]: events, and a worker that processes them
//! - `damage`: each kind of it, found and undone
//! - `limits`: what the ledger can't tell
//! - `traffic`: no false alarm while others work

mod damage;
mod limits;
mod stories;
mod traffic;

use serde_json::Value;

use crate::bed::Bed;

/// What `rebuild --check` says, whether it finds something or not.
async fn check(bed: &Bed) -> Value {
    rebuild(bed, &["--check"]).await
}

async fn rebuild(bed: &Bed, more: &[&str]) -> Value {
    let ran = bed.run(&[&["rebuild", "--json"], more].concat()).await;
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    let expected = i32::from(report["equal"] != true);
    assert_eq!(ran.code, expected, "{ran:?}");
    report
}

/// Each of a list by its collection, key and, where it has such, the names of its fields.
fn named(report: &Value, list: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |one: &Value| {
        let fields = one["fields"].as_array().into_iter().flatten();
        let fields: Vec<_> = fields.map(|field| text(&field["name"])).collect();
        let how = match one["reason"].as_str() {
            Some(reason) => reason.to_owned(),
            None if fields.is_empty() => text(&one["what"]),
            None => fields.join(","),
        };
        format!("{} {} {how}", text(&one["collection"]), text(&one["key"]))
    };
    report[list].as_array().unwrap().iter().map(of).collect()
}

async fn is_equal(bed: &Bed) {
    let report = check(bed).await;
    assert_eq!(report["equal"], true, "{report:#}");
    for list in ["differences", "notRebuildable", "moving", "unreadable"] {
        assert_eq!(report[list].as_array().unwrap().len(), 0, "{report:#}");
    }
}
