//! `[[route]]`: which effects go where. Nothing is dropped: a topic without a route is
//! refused at boot.

use std::collections::BTreeMap;

use super::area::Area;
use super::fault::{Checked, Faults};
use super::nearest::suggestion;
use super::raw::Raw;
use super::sink::{self, Sink, SinkKind};

/// Every topic that the built-in handlers send.
pub const TOPICS: [&str; 8] = [
    "entitlement.changed",
    "email.receipt",
    "welcome",
    "payment.failed",
    "subscription.canceled",
    "credits.granted",
    "credits.reversed",
    "purchase.conflict",
];

/// The topic that stands for all that have no route of their own.
const ANY: &str = "*";
/// The sink there is when nothing at all is configured.
const FALLBACK: &str = "log";

/// Destinations by topic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Routing {
    named: BTreeMap<String, Vec<String>>,
    any: Vec<String>,
}

impl Routing {
    /// Everything to `sinks`.
    pub fn everything_to<S: Into<String>>(sinks: impl IntoIterator<Item = S>) -> Self {
        let any = sinks.into_iter().map(Into::into).collect();
        Self {
            named: BTreeMap::new(),
            any,
        }
    }

    /// The names of the sinks that a message of `topic` goes to; a route that names the
    /// topic goes before `*`. Never empty for one of [`TOPICS`] when read from a
    /// configuration.
    #[must_use]
    pub fn destinations(&self, topic: &str) -> &[String] {
        self.named.get(topic).unwrap_or(&self.any)
    }

    /// Every sink that something goes to.
    fn used(&self) -> impl Iterator<Item = &String> {
        self.named.values().flatten().chain(&self.any)
    }
}

/// The sinks and the routes between them and the topics.
pub(super) struct Delivery {
    pub(super) sinks: Vec<Sink>,
    pub(super) routing: Routing,
    pub(super) warnings: Vec<String>,
}

/// Puts routes and sinks together.
pub(super) fn read(raw: &Raw, sinks: Checked<Vec<Sink>>, faults: &mut Faults) -> Checked<Delivery> {
    let areas = Area::each(raw, "route");
    let known: Vec<&str> = sink::names(raw).into_iter().map(|(_, name)| name).collect();
    if areas.is_empty() && Area::each(raw, "sink").is_empty() {
        return Ok(fallback());
    }
    let routing = read_routes(&areas, &known, faults);
    let sinks = sinks?;
    let routing = routing?;
    let unused = sinks
        .iter()
        .filter(|sink| !routing.used().any(|name| *name == sink.name));
    let warnings = unused
        .map(|sink| {
            format!(
                "sink \"{}\" is in no [[route]], so nothing goes to it",
                sink.name
            )
        })
        .collect();
    Ok(Delivery {
        sinks,
        routing,
        warnings,
    })
}

fn fallback() -> Delivery {
    let warning = "no [[sink]] and no [[route]] is configured: everything goes to the log";
    Delivery {
        sinks: vec![Sink {
            name: FALLBACK.to_owned(),
            kind: SinkKind::Log,
        }],
        routing: Routing::everything_to([FALLBACK]),
        warnings: vec![warning.to_owned()],
    }
}

fn read_routes(areas: &[Area<'_>], known: &[&str], faults: &mut Faults) -> Checked<Routing> {
    let mut routing = Routing::default();
    let mut routed: Vec<&str> = Vec::new();
    let mut faulty = None;
    for area in areas {
        let topic = read_topic(area, &routed, faults);
        let sinks = read_sinks(area, known, faults);
        // A route with a fault still counts as one, or its topic would be reported twice.
        routed.extend(topic.ok());
        match (topic, sinks) {
            (Ok(ANY), Ok(sinks)) => routing.any = sinks,
            (Ok(topic), Ok(sinks)) => {
                routing.named.insert(topic.to_owned(), sinks);
            }
            (Err(proof), _) | (Ok(_), Err(proof)) => faulty = Some(proof),
        }
    }
    let unrouted: Vec<&str> = TOPICS
        .into_iter()
        .filter(|topic| !routed.contains(topic))
        .collect();
    if !unrouted.is_empty() && !routed.contains(&ANY) {
        let message = format!(
            "nothing routes {}; add a [[route]] for each or one with topic = \"*\"",
            unrouted.join(", ")
        );
        faulty = Some(faults.add("route", message));
    }
    faulty.map_or(Ok(routing), Err)
}

fn read_topic<'a>(area: &Area<'a>, routed: &[&str], faults: &mut Faults) -> Checked<&'a str> {
    let topic = area.required_text("topic", faults)?;
    let reason = if routed.contains(&topic) {
        format!("\"{topic}\" has a route already; name all its sinks there")
    } else if topic == ANY || TOPICS.contains(&topic) {
        return Ok(topic);
    } else {
        format!("unknown topic; {}", suggestion(topic, TOPICS))
    };
    Err(faults.add(area.key("topic"), reason))
}

fn read_sinks(area: &Area<'_>, known: &[&str], faults: &mut Faults) -> Checked<Vec<String>> {
    let listed = area.texts("sinks", faults)?;
    if listed.is_empty() {
        return Err(faults.add(area.key("sinks"), "needs at least one sink's name"));
    }
    let mut names: Vec<String> = Vec::new();
    let mut faulty = None;
    for (key, name) in listed {
        if !known.contains(&name) {
            let message = format!("unknown sink; {}", suggestion(name, known.iter().copied()));
            faulty = Some(faults.add(key, message));
        } else if names.iter().any(|earlier| earlier == name) {
            faulty = Some(faults.add(key, format!("\"{name}\" is listed twice")));
        } else {
            names.push(name.to_owned());
        }
    }
    faulty.map_or(Ok(names), Err)
}
