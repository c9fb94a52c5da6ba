//! Who signs, and how that is proven: one verifier a file, behind a closed enum.
//!
//! Pure: headers, raw body, secrets and the time go in; [`Verified`] or a [`VerifyError`]
//! comes out. Nothing here parses a body, reads a clock or talks to anybody. What a
//! verified body means is read in `receipt`.

mod hmac;
mod stripe;

use actix_web::http::header::HeaderMap;
use bytes::Bytes;
use hookledger_shared::config::{Provider, Source};

/// The verifier of one source, its secrets made ready.
#[derive(Debug)]
pub enum Verifier {
    /// `Stripe-Signature`.
    Stripe(stripe::Verifier),
}

/// A body whose sender has proven to know one of the secrets. Only a verifier makes one,
/// so nothing that is unverified can be taken for it.
#[derive(Clone)]
pub struct Verified {
    provider: Provider,
    body: Bytes,
    secret: usize,
}

/// Why a delivery is not authentic. What the sender is told is [`code`](Self::code), no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// No signature, or an empty one.
    #[error("the signature header is missing or empty")]
    MissingHeader,
    /// Not in the provider's grammar.
    #[error("the signature header is malformed")]
    MalformedHeader,
    /// No signature of a kind that we trust.
    #[error("the signature header holds no scheme that is trusted")]
    NoKnownScheme,
    /// None of its signatures was made with any of our secrets over this body.
    #[error("no signature matches")]
    BadSignature,
    /// Signed, but too long ago: perhaps recorded and sent again.
    #[error("signed too long ago")]
    TimestampTooOld,
    /// Signed, but with a time that is not yet.
    #[error("signed too far in the future")]
    TimestampTooNew,
}

impl Verifier {
    /// The verifier that `source` asks for.
    #[must_use]
    pub fn new(source: &Source) -> Self {
        match source.provider {
            Provider::Stripe => {
                Self::Stripe(stripe::Verifier::new(&source.secrets, source.tolerance))
            }
        }
    }

    /// Whether who sent `body` knows one of the secrets and signed it just now. `now` is in
    /// whole seconds since 1970.
    ///
    /// # Errors
    /// Says why not.
    pub fn verify(
        &self,
        headers: &HeaderMap,
        body: Bytes,
        now: i64,
    ) -> Result<Verified, VerifyError> {
        let (provider, secret) = match self {
            Self::Stripe(stripe) => (Provider::Stripe, stripe.verify(headers, &body, now)?),
        };
        Ok(Verified {
            provider,
            body,
            secret,
        })
    }
}

impl Verified {
    /// Who signed.
    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Exactly the bytes that were signed.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The place, counted from 0, of the secret that matched among the source's secrets.
    #[must_use]
    pub fn secret(&self) -> usize {
        self.secret
    }
}

impl std::fmt::Debug for Verified {
    /// Without the body, which holds personal data.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verified")
            .field("provider", &self.provider)
            .field("bytes", &self.body.len())
            .field("secret", &self.secret)
            .finish()
    }
}

impl VerifyError {
    /// The word for it: the public answer, the metric's label.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::MissingHeader => "missing_header",
            Self::MalformedHeader => "malformed_header",
            Self::NoKnownScheme => "no_known_scheme",
            Self::BadSignature => "bad_signature",
            Self::TimestampTooOld => "timestamp_too_old",
            Self::TimestampTooNew => "timestamp_too_new",
        }
    }
}
