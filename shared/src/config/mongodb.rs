//! `[mongodb]`: where the ledger is.

use std::fmt;

use mongodb::options::ConnectionString;

use super::area::Area;
use super::environment::Environment;
use super::fault::{Checked, Faults};
use super::raw::Raw;
use super::secret::{self, Reference};

const DEFAULT_DATABASE: &str = "hookledger";
/// MongoDB's own limit for a database's name, in bytes.
const MAX_DATABASE_BYTES: usize = 63;
/// What MongoDB allows in no database's name, on any platform.
const FORBIDDEN_IN_DATABASE: &str = "/\\. \"$*<>:|?\0";

/// Options of a connection string that say nothing secret. Any other is hidden: a new
/// one might.
const SHOWN_OPTIONS: [&str; 14] = [
    "appname",
    "authmechanism",
    "authsource",
    "compressors",
    "connecttimeoutms",
    "directconnection",
    "loadbalanced",
    "maxpoolsize",
    "minpoolsize",
    "readpreference",
    "replicaset",
    "serverselectiontimeoutms",
    "ssl",
    "tls",
];

/// The deployment and the database.
#[derive(Clone)]
pub struct Mongodb {
    /// The connection string. May hold a password: see [`masked`].
    pub uri: String,
    /// The database's name.
    pub database: String,
}

impl Mongodb {
    pub(super) fn read(raw: &Raw, environment: &Environment, faults: &mut Faults) -> Checked<Self> {
        let area = Area::of(raw, "mongodb");
        let uri = read_uri(&area, environment, faults);
        let database = read_database(&area, faults);
        Ok(Self {
            uri: uri?,
            database: database?,
        })
    }
}

/// No default: the ledger's place is never guessed.
fn read_uri(area: &Area<'_>, environment: &Environment, faults: &mut Faults) -> Checked<String> {
    let key = area.key("uri");
    let text = area.required_text("uri", faults)?;
    let uri = match Reference::parse(text) {
        Some(_) => secret::resolve(&key, text, environment, faults)?
            .expose()
            .to_owned(),
        None => text.to_owned(),
    };
    // The driver's error is not shown, since it quotes what it did not understand.
    match ConnectionString::parse(&uri) {
        Ok(_) => Ok(uri),
        Err(_) => Err(faults.add(
            key,
            "is no MongoDB connection string, mongodb://… or mongodb+srv://…, with user and \
             password percent-encoded",
        )),
    }
}

fn read_database(area: &Area<'_>, faults: &mut Faults) -> Checked<String> {
    let name = area.text("database", faults)?.unwrap_or(DEFAULT_DATABASE);
    let allowed = |c| !FORBIDDEN_IN_DATABASE.contains(c);
    if name.len() <= MAX_DATABASE_BYTES && name.chars().all(allowed) {
        return Ok(name.to_owned());
    }
    let rule = format!(
        "must be up to {MAX_DATABASE_BYTES} bytes without spaces and any of / \\ . \" $ * < > : | ?"
    );
    Err(faults.add(area.key("database"), rule))
}

/// A connection string without user, password and the options that may be secret.
#[must_use]
pub fn masked(uri: &str) -> String {
    let Some((scheme, rest)) = uri.split_once("://") else {
        return "***".to_owned();
    };
    // The last @ of all: in a badly encoded string the password may hold any character,
    // and hiding too much is the better error.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((_, rest)) => ("***@", rest),
        None => ("", rest),
    };
    match rest.split_once('?') {
        Some((hosts, options)) => {
            let options: Vec<String> = options.split('&').map(masked_option).collect();
            format!("{scheme}://{user}{hosts}?{}", options.join("&"))
        }
        None => format!("{scheme}://{user}{rest}"),
    }
}

fn masked_option(option: &str) -> String {
    match option.split_once('=') {
        Some((name, _)) if SHOWN_OPTIONS.contains(&name.to_lowercase().as_str()) => {
            option.to_owned()
        }
        Some((name, _)) => format!("{name}=***"),
        None => "***".to_owned(),
    }
}

impl fmt::Debug for Mongodb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mongodb")
            .field("uri", &masked(&self.uri))
            .field("database", &self.database)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_string_is_shown_without_what_is_secret() {
        for (uri, shown) in [
            (
                "mongodb://a:1,b:2/?replicaSet=rs0",
                "mongodb://a:1,b:2/?replicaSet=rs0",
            ),
            (
                "mongodb://u:hunter2@a/db?tls=true",
                "mongodb://***@a/db?tls=true",
            ),
            ("mongodb://u:hun@ter2@a/", "mongodb://***@a/"),
            ("mongodb://u:hunt?er2@a/", "mongodb://***@a/"),
            (
                "mongodb+srv://a/?tlsCertificateKeyFilePassword=hunter2&appName=x",
                "mongodb+srv://a/?tlsCertificateKeyFilePassword=***&appName=x",
            ),
            ("hunter2", "***"),
        ] {
            assert_eq!(masked(uri), shown);
        }
    }
}
