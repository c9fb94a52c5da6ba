//! Whose books a document belongs to: the own account or a connected one, live or test.
//! Every key of a domain document and of an effect begins with it, so that a test twin can
//! never stand in for a live one.

/// How the account that owns the endpoint is written.
pub const OWN_ACCOUNT: &str = "self";

/// An account and a mode.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Book {
    /// The connected account's id, or [`OWN_ACCOUNT`].
    pub account: String,
    /// Whether it is about real money.
    pub livemode: bool,
}

impl Book {
    /// The book of a connected account, or of the own one when there is none.
    #[must_use]
    pub fn new(account: Option<&str>, livemode: bool) -> Self {
        Self {
            account: account.unwrap_or(OWN_ACCOUNT).to_owned(),
            livemode,
        }
    }

    /// The key of `id` in this book: `self:test:sub_123`.
    #[must_use]
    pub fn key(&self, id: &str) -> String {
        let mode = if self.livemode { "live" } else { "test" };
        format!("{}:{mode}:{id}", self.account)
    }
}

#[cfg(test)]
mod tests {
    use super::Book;

    #[test]
    fn twins_and_accounts_have_keys_of_their_own() {
        assert_eq!(Book::new(None, false).key("sub_1"), "self:test:sub_1");
        assert_eq!(Book::new(None, true).key("sub_1"), "self:live:sub_1");
        assert_eq!(
            Book::new(Some("acct_1"), true).key("sub_1"),
            "acct_1:live:sub_1"
        );
    }
}
