//! What is read of a body, and what is not.

use bytes::Bytes;

use super::stripe;
use super::{Facts, Unreadable, digest};

fn facts(body: &str) -> Facts {
    stripe::read(body.as_bytes()).unwrap()
}

fn event_id(body: &str) -> Option<String> {
    facts(body).event_id
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn a_snapshot_event_tells_what_it_is_and_what_it_is_about() {
    let body = r#"{"id":"evt_1","object":"event","account":"acct_1","api_version":"2025-09-30",
        "created":1767225598,"livemode":true,"type":"invoice.paid","pending_webhooks":2,
        "data":{"object":{"id":"in_1","object":"invoice","customer":"cus_1"},
        "previous_attributes":{"id":"never"}},"request":{"id":null}}"#;
    let expected = Facts {
        event_id: text("evt_1"),
        event_type: text("invoice.paid"),
        created: Some(1_767_225_598),
        livemode: Some(true),
        account: text("acct_1"),
        api_version: text("2025-09-30"),
        object_id: text("in_1"),
        customer_id: text("cus_1"),
    };
    assert_eq!(facts(body), expected);
}

#[test]
fn a_thin_event_goes_by_its_snapshots_id() {
    let body = r#"{"id":"evt_thin","object":"v2.core.event","type":"v1.customer.updated",
        "created":"2026-01-01T00:00:01.999Z","livemode":false,"snapshot_event":"evt_1",
        "related_object":{"id":"cus_1","type":"customer","url":"/v1/customers/cus_1"}}"#;
    let expected = Facts {
        event_id: text("evt_1"),
        event_type: text("v1.customer.updated"),
        created: Some(1_767_225_601),
        livemode: Some(false),
        object_id: text("cus_1"),
        customer_id: text("cus_1"),
        ..Facts::default()
    };
    assert_eq!(facts(body), expected);
    let without = r#"{"id":"evt_thin","object":"v2.core.event","snapshot_event":null}"#;
    assert_eq!(event_id(without), text("evt_thin"));
    // Only a thin event has a snapshot: elsewhere the field is somebody's own.
    let snapshot = r#"{"id":"evt_2","object":"event","snapshot_event":"evt_1"}"#;
    assert_eq!(event_id(snapshot), text("evt_2"));
}

#[test]
fn the_customer_is_found_where_it_stands() {
    for (object, customer) in [
        (r#"{"id":"sub_1","customer":"cus_1"}"#, text("cus_1")),
        (
            r#"{"id":"sub_1","customer":{"id":"cus_1","object":"customer","customer":9}}"#,
            text("cus_1"),
        ),
        (r#"{"id":"cus_1","object":"customer"}"#, text("cus_1")),
        (r#"{"id":"sub_1","customer":null}"#, None),
        (r#"{"id":"sub_1","customer":["cus_1"]}"#, None),
        (r#"{"id":7,"object":"customer"}"#, None),
    ] {
        let body = format!(r#"{{"id":"evt_1","data":{{"object":{object}}}}}"#);
        assert_eq!(facts(&body).customer_id, customer, "{object}");
    }
}

#[test]
fn a_field_of_another_type_or_out_of_range_is_absent() {
    let long = format!("\"{}\"", "x".repeat(256));
    for value in [
        "null",
        "1.5",
        "-1",
        "253402300800",
        "18446744073709551615",
        "99999999999999999999999999",
        "1e300",
        "[]",
        "[[{}],1]",
        "{}",
        "{\"id\":\"x\"}",
        "\"\"",
        &long,
    ] {
        let body = format!(
            r#"{{"id":{value},"type":{value},"created":{value},"livemode":{value},"account":{value},
            "api_version":{value},"data":{value},"related_object":{value},"snapshot_event":{value},
            "object":{value}}}"#
        );
        let mut read = facts(&body);
        // The related object may be any object that has an id.
        read.object_id = None;
        assert_eq!(read, Facts::default(), "{value}");
    }
    for created in [
        "\"2026-01-01\"",
        "\"yesterday\"",
        "\"1969-12-31T23:59:59Z\"",
        "true",
    ] {
        assert_eq!(
            facts(&format!(r#"{{"created":{created}}}"#)).created,
            None,
            "{created}"
        );
    }
}

#[test]
fn an_id_is_kept_as_it_is() {
    for (written, read) in [
        ("evt_A", "evt_A"),
        ("evt_a ", "evt_a "),
        ("\\u0065vt", "evt"),
        ("a\\u0000b", "a\0b"),
        ("\\ud83d\\ude00", "\u{1f600}"),
        ("$set.x", "$set.x"),
    ] {
        assert_eq!(
            event_id(&format!(r#"{{"id":"{written}"}}"#)),
            text(read),
            "{written}"
        );
    }
    let longest = "x".repeat(255);
    assert_eq!(event_id(&format!(r#"{{"id":"{longest}"}}"#)), Some(longest));
}

#[test]
fn what_is_no_envelope_is_unreadable() {
    for body in [
        "",
        " ",
        "null",
        "1",
        "\"evt_1\"",
        "[]",
        "[\"evt_1\",\"event\"]",
        "{",
        "{\"id\":\"evt_1\"",
        "{\"id\":\"evt_1\"} x",
        "\u{feff}{\"id\":\"evt_1\"}",
        "{\"id\":NaN}",
        "{\"id\":1e999}",
        "{'id':'evt_1'}",
        "{\"id\":\"\\ud800\"}",
        "id=evt_1",
        // The same field twice: which of them counts would be a matter of taste.
        r#"{"id":"evt_1","id":"evt_2"}"#,
        r#"{"id":"evt_1","\u0069d":"evt_1"}"#,
        r#"{"id":"evt_1","type":"a","type":"b"}"#,
        r#"{"id":"evt_1","data":{"object":{"id":"a","id":"b"}}}"#,
    ] {
        assert_eq!(stripe::read(body.as_bytes()), Err(Unreadable), "{body}");
    }
    assert_eq!(stripe::read(b"{\"id\":\"\xff\"}"), Err(Unreadable));
    // What nobody reads may be there as often as it likes.
    assert_eq!(
        event_id(r#"{"x":1,"id":"evt_1","x":{"id":2,"id":3}}"#),
        text("evt_1")
    );
}

#[test]
fn depth_costs_no_stack() {
    const DEPTH: usize = 1_000_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(DEPTH), close.repeat(DEPTH));
        for body in [
            format!(r#"{{"id":"evt_1","x":{deep}}}"#),
            format!(r#"{{"id":"evt_1","type":{deep}}}"#),
            format!(r#"{{"id":"evt_1","data":{{"object":{{"customer":{deep}}}}}}}"#),
        ] {
            assert_eq!(event_id(&body), text("evt_1"));
        }
        assert_eq!(stripe::read(open.repeat(DEPTH).as_bytes()), Err(Unreadable));
        let bare = if open == "[" {
            Err(Unreadable)
        } else {
            Ok(Facts::default())
        };
        assert_eq!(stripe::read(deep.as_bytes()), bare);
    }
}

#[test]
fn the_digest_is_the_bodys_sha256() {
    let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(digest(&Bytes::new()), empty);
}
