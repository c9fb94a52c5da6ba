//! The environment variables that the developer's tool reads, all of them, in one place.
//!
//! The product's configuration is not read here: that is `hookledger_shared::config`.

use std::env;
use std::path::PathBuf;

/// Names a MongoDB replica set to use instead of starting one.
pub const MONGODB_URI: &str = "HOOKLEDGER_MONGODB_URI";

/// The secret that `send` signs with.
pub const STRIPE_WEBHOOK_SECRET: &str = "STRIPE_WEBHOOK_SECRET";

/// Names the one random life that a test shall try, instead of many.
pub const LIFE_SEED: &str = "HOOKLEDGER_LIFE_SEED";

/// How many lives the end-to-end test takes through the real programs, instead of its sample.
pub const LIFE_ROUNDS: &str = "HOOKLEDGER_LIFE_ROUNDS";

/// The replica set that the developer brings along, if any.
#[must_use]
pub fn mongodb_uri() -> Option<String> {
    read(MONGODB_URI)
}

/// The Stripe endpoint secret of the shell, if any.
#[must_use]
pub fn stripe_webhook_secret() -> Option<String> {
    read(STRIPE_WEBHOOK_SECRET)
}

/// The seed of the life to try, if the developer names one.
#[must_use]
pub fn life_seed() -> Option<u64> {
    read(LIFE_SEED).and_then(|seed| seed.parse().ok())
}

/// How many lives to try, if the developer says so.
#[must_use]
pub fn life_rounds() -> Option<usize> {
    read(LIFE_ROUNDS).and_then(|rounds| rounds.parse().ok())
}

/// The cargo that runs us, so that what we build uses the same toolchain; `cargo` from `PATH` when we were
/// started by hand.
#[must_use]
pub fn cargo() -> PathBuf {
    read("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// Where Hookledger keeps what it has downloaded: `$XDG_CACHE_HOME/hookledger`, else `~/.cache/hookledger`,
/// else nowhere.
#[must_use]
pub fn cache_dir() -> Option<PathBuf> {
    let base = read("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let base = base.or_else(|| env::home_dir().map(|home| home.join(".cache")))?;
    Some(base.join("hookledger"))
}

/// Every file called `name` in the folders of `PATH`, in its order.
#[must_use]
pub fn on_path(name: &str) -> Vec<PathBuf> {
    let Some(path) = env::var_os("PATH") else {
        return Vec::new();
    };
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .filter(|file| file.is_file())
        .collect()
}

/// A variable that is set to nothing counts as not set.
#[allow(
    clippy::disallowed_methods,
    reason = "the ban protects the product's configuration; a developer's tool has its own few variables, all here"
)]
fn read(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
