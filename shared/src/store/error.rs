//! What can go wrong between us and the database, and whose fault it is.

use std::time::Duration;

use mongodb::error::{Error, ErrorKind, WriteFailure};

/// An operation that did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No answer in time: the write may or may not have happened.
    #[error("the database did not answer within {0:?}")]
    TimedOut(Duration),
    /// The primary was lost while we waited for it: the write may or may not have happened.
    #[error("the primary was lost while it was asked")]
    PrimaryLost,
    /// The driver or the server said no.
    #[error("database: {0}")]
    Database(#[from] Error),
    /// The server answered something that it was not asked.
    #[error("the database answered something unexpected: {0}")]
    Unexpected(String),
    /// A row that this version can't read.
    #[error("a stored document can't be read: {0}")]
    Unreadable(#[from] bson::error::Error),
}

/// Whose fault an error is. Only our own faults may use up an event's attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Network, election, overload, rights: wait and try again, nothing counted.
    Infrastructure,
    /// Two transactions touched the same document: run again.
    Conflict,
    /// What we asked for can't be done: another try by the same code fails again.
    Ours,
}

/// Server codes by which an operation itself is wrong, whatever the server's state:
/// `error_codes.yml` of the server. All others are infrastructure, so that an unknown code
/// never makes a dead letter.
const OURS: [i32; 17] = [
    2,     // BadValue
    9,     // FailedToParse
    14,    // TypeMismatch
    15,    // Overflow: nested too deep
    28,    // PathNotViable
    40,    // ConflictingUpdateOperators
    52,    // DollarPrefixedFieldName
    54,    // NotSingleValueField
    56,    // EmptyFieldName
    57,    // DottedFieldName
    66,    // ImmutableField
    121,   // DocumentValidationFailure
    10334, // BSONObjectTooLarge
    11000, // DuplicateKey
    16819, // sort or group over the memory limit
    17419, // the document grew past 16 MiB
    17420, // the inserted document is past 16 MiB
];

/// `WriteConflict`.
const WRITE_CONFLICT: i32 = 112;
/// `DuplicateKey`.
pub(crate) const DUPLICATE_KEY: i32 = 11_000;

/// The server's code, if the error carries one. The driver's own `code()` is private.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the driver's enum is open; what is not named here is the default"
)]
pub(crate) fn code(error: &Error) -> Option<i32> {
    match error.kind.as_ref() {
        ErrorKind::Command(command) => Some(command.code),
        ErrorKind::Write(WriteFailure::WriteError(write)) => Some(write.code),
        ErrorKind::Write(WriteFailure::WriteConcernError(concern)) => Some(concern.code),
        ErrorKind::InsertMany(many) => many
            .write_errors
            .as_ref()
            .and_then(|errors| errors.first())
            .map(|first| first.code),
        _ => None,
    }
}

/// Whose fault `error` is.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the driver's enum is open; what is not named here is the default"
)]
#[must_use]
pub fn fault(error: &Error) -> Fault {
    match code(error) {
        Some(WRITE_CONFLICT) => return Fault::Conflict,
        Some(code) if OURS.contains(&code) => return Fault::Ours,
        Some(_) | None => {}
    }
    match error.kind.as_ref() {
        ErrorKind::InvalidArgument { .. }
        | ErrorKind::Bson(_)
        | ErrorKind::BsonDeserialization(_)
        | ErrorKind::BsonSerialization(_) => Fault::Ours,
        _ => Fault::Infrastructure,
    }
}

/// Whether a unique index said no.
#[must_use]
pub fn is_duplicate_key(error: &Error) -> bool {
    code(error) == Some(DUPLICATE_KEY)
}

impl StoreError {
    /// Whose fault this is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::TimedOut(_) | Self::PrimaryLost | Self::Unexpected(_) => Fault::Infrastructure,
            Self::Database(error) => fault(error),
            Self::Unreadable(_) => Fault::Ours,
        }
    }
}

/// Waits for `operation` at most `limit`. Not for operations inside a transaction: there a
/// cancelled first operation leaves a transaction that neither drop nor abort ends, so one
/// deadline stands around the whole (`transaction::Slot::in_transaction`).
pub(crate) async fn within<T>(
    limit: Duration,
    operation: impl Future<Output = Result<T, Error>>,
) -> Result<T, StoreError> {
    match tokio::time::timeout(limit, operation).await {
        Ok(result) => result.map_err(StoreError::from),
        Err(_) => Err(StoreError::TimedOut(limit)),
    }
}
