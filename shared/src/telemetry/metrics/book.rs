//! Registration under one prefix, with a list of the names for documentation to be held
//! against.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Metric, Registry, Unit};

const PREFIX: &str = "hookledger";

/// A gauge of seconds and parts of them.
pub(super) type Seconds = Gauge<f64, AtomicU64>;

/// Bounds that a labelled set of metrics needs: hashable, encodable.
pub(super) trait Labels:
    EncodeLabelSet + Clone + std::fmt::Debug + Eq + std::hash::Hash
{
}
impl<T: EncodeLabelSet + Clone + std::fmt::Debug + Eq + std::hash::Hash> Labels for T {}

/// A registry that remembers what is in it.
#[derive(Debug)]
pub(super) struct Book {
    registry: Registry,
    names: Vec<String>,
}

impl Book {
    pub(super) fn new() -> Self {
        Self {
            registry: Registry::with_prefix(PREFIX),
            names: Vec::new(),
        }
    }

    /// The full names, as they stand in the text that is scraped.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The text that is scraped.
    pub(super) fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a `String` can't fail, and neither can our labels.
        let _ = encode(&mut text, &self.registry);
        text
    }

    pub(super) fn counter(&mut self, name: &str, help: &str) -> Counter {
        self.enter(name, "_total", help, Counter::default())
    }

    pub(super) fn counters<L>(&mut self, name: &str, help: &str) -> Family<L, Counter>
    where
        L: Labels + Send + Sync + 'static,
    {
        self.enter(name, "_total", help, Family::default())
    }

    pub(super) fn gauge(&mut self, name: &str, help: &str) -> Gauge {
        self.enter(name, "", help, Gauge::default())
    }

    pub(super) fn gauges<L>(&mut self, name: &str, help: &str) -> Family<L, Gauge>
    where
        L: Labels + Send + Sync + 'static,
    {
        self.enter(name, "", help, Family::default())
    }

    pub(super) fn bytes(&mut self, name: &str, help: &str) -> Gauge {
        self.enter_unit(name, help, Unit::Bytes, Gauge::default())
    }

    pub(super) fn seconds(&mut self, name: &str, help: &str) -> Seconds {
        self.enter_unit(name, help, Unit::Seconds, Seconds::default())
    }

    pub(super) fn seconds_by<L>(&mut self, name: &str, help: &str) -> Family<L, Seconds>
    where
        L: Labels + Send + Sync + 'static,
    {
        self.enter_unit(name, help, Unit::Seconds, Family::default())
    }

    /// Times from `first` seconds up, each bucket twice the one before.
    pub(super) fn durations(
        &mut self,
        name: &str,
        help: &str,
        first: f64,
        buckets: u16,
    ) -> Histogram {
        let histogram = Histogram::new(exponential_buckets(first, 2.0, buckets));
        self.enter_unit(name, help, Unit::Seconds, histogram)
    }

    /// Sizes from 1 up, each bucket twice the one before.
    pub(super) fn sizes(&mut self, name: &str, help: &str, buckets: u16) -> Histogram {
        let histogram = Histogram::new(exponential_buckets(1.0, 2.0, buckets));
        self.enter(name, "", help, histogram)
    }

    fn enter<M: Metric + Clone>(&mut self, name: &str, suffix: &str, help: &str, metric: M) -> M {
        self.names.push(format!("{PREFIX}_{name}{suffix}"));
        self.registry.register(name, help, metric.clone());
        metric
    }

    fn enter_unit<M: Metric + Clone>(
        &mut self,
        name: &str,
        help: &str,
        unit: Unit,
        metric: M,
    ) -> M {
        self.names
            .push(format!("{PREFIX}_{name}_{}", unit.as_str()));
        self.registry
            .register_with_unit(name, help, unit, metric.clone());
        metric
    }
}

/// The names that a label may take. Any other is counted as `unknown`: what strangers or
/// old rows say must not make new series.
#[derive(Debug)]
pub(super) struct Bounded(BTreeSet<String>);

impl Bounded {
    pub(super) fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    pub(super) fn label(&self, name: &str) -> String {
        if self.0.contains(name) {
            name.to_owned()
        } else {
            "unknown".to_owned()
        }
    }
}
