//! What a replica set is started with.

use std::time::Duration;

use bson::{Document, doc};

use super::NAME;
use crate::mongo::process::{Mongod, MongodOptions};

/// How many members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// Enough for transactions, change streams and majority writes.
    One,
    /// The smallest set that survives the loss of its primary.
    Three,
}

impl Members {
    pub(super) fn count(self) -> usize {
        match self {
            Self::One => 1,
            Self::Three => 3,
        }
    }
}

/// What a replica set is started with.
#[derive(Clone, Debug)]
pub struct ReplicaSetOptions {
    /// One or three.
    pub members: Members,
    /// How long the others miss a primary before they elect another. MongoDB's default is 10 s.
    pub election_timeout: Duration,
    /// How often members ask after each other. MongoDB's default is 2 s.
    pub heartbeat_interval: Duration,
    /// Allows fail points.
    pub test_commands: bool,
    /// Further `--setParameter name=value`, for every member.
    pub set_parameters: Vec<(String, String)>,
}

impl ReplicaSetOptions {
    /// For tests: fail points allowed, elections quick (a killed primary is replaced within 3 s).
    #[must_use]
    pub fn for_tests(members: Members) -> Self {
        Self {
            members,
            election_timeout: Duration::from_millis(2000),
            heartbeat_interval: Duration::from_millis(500),
            test_commands: true,
            set_parameters: Vec::new(),
        }
    }

    /// For `cargo dev`: one member, no fail points.
    #[must_use]
    pub fn for_development() -> Self {
        Self {
            test_commands: false,
            ..Self::for_tests(Members::One)
        }
    }

    /// Adds a `--setParameter` for every member.
    #[must_use]
    pub fn set_parameter(mut self, name: &str, value: &str) -> Self {
        self.set_parameters
            .push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn mongod(&self) -> MongodOptions {
        MongodOptions {
            replica_set: Some(NAME.to_owned()),
            test_commands: self.test_commands,
            set_parameters: self.set_parameters.clone(),
        }
    }

    pub(super) fn configuration(&self, members: &[Mongod]) -> Document {
        let entries: Vec<Document> = (0i32..)
            .zip(members)
            .map(|(id, member)| doc! { "_id": id, "host": format!("127.0.0.1:{}", member.port()) })
            .collect();
        doc! {
            "_id": NAME,
            "members": entries,
            "settings": {
                "electionTimeoutMillis": millis(self.election_timeout),
                "heartbeatIntervalMillis": millis(self.heartbeat_interval),
            },
        }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
