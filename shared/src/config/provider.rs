//! Who sends webhooks: the closed list, and what is known to come later.

use super::nearest::suggestion;

/// A provider whose deliveries can be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Stripe.
    Stripe,
}

/// Providers that are planned: a configuration that names one is right, only early.
const LATER: [&str; 14] = [
    "adyen",
    "forte",
    "generic",
    "github",
    "lemonsqueezy",
    "paddle",
    "paypal",
    "shopify",
    "slack",
    "square",
    "standardwebhooks",
    "svix",
    "trusted_header",
    "twilio",
];

/// Why a name is no [`Provider`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// Planned, but there is nothing to verify its deliveries with.
    #[error("provider \"{0}\" is not yet supported")]
    NotYet(&'static str),
    /// No provider we know of.
    #[error("unknown provider; {suggestion}")]
    Unknown {
        /// The nearest known name, or all of them.
        suggestion: String,
    },
}

impl Provider {
    /// Every provider there is.
    pub const ALL: [Self; 1] = [Self::Stripe];

    /// The name in configuration, ledger and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stripe => "stripe",
        }
    }

    /// The provider called `name`.
    ///
    /// # Errors
    /// Tells a planned provider from a name that nobody knows.
    pub fn parse(name: &str) -> Result<Self, ProviderError> {
        if let Some(provider) = Self::ALL
            .into_iter()
            .find(|provider| provider.as_str() == name)
        {
            return Ok(provider);
        }
        if let Some(later) = LATER.into_iter().find(|later| *later == name) {
            return Err(ProviderError::NotYet(later));
        }
        let known = Self::ALL.into_iter().map(Self::as_str).chain(LATER);
        Err(ProviderError::Unknown {
            suggestion: suggestion(name, known),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_is_found_by_its_own_name() {
        for provider in Provider::ALL {
            assert_eq!(Provider::parse(provider.as_str()), Ok(provider));
        }
    }

    #[test]
    fn a_planned_provider_is_told_from_a_misspelt_one() {
        let text = |name| Provider::parse(name).unwrap_err().to_string();
        assert_eq!(text("github"), "provider \"github\" is not yet supported");
        assert_eq!(text("strype"), "unknown provider; did you mean stripe?");
    }
}
