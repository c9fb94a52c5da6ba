//! What a subscription's status means here. Stripe may add words at any time: an unknown
//! one is kept as it is, gives no access, and is flagged.

/// How good a status is; the order is that in which one is shown before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// A word that this version doesn't know.
    Unknown,
    /// No access: `incomplete`, `incomplete_expired`, `unpaid`, `paused`, `canceled`.
    None,
    /// A payment failed and is tried again.
    PastDue,
    /// On trial.
    Trialing,
    /// As it should be.
    Active,
}

impl Standing {
    /// What `status` means.
    #[must_use]
    pub(super) fn of(status: &str) -> Self {
        match status {
            "active" => Self::Active,
            "trialing" => Self::Trialing,
            "past_due" => Self::PastDue,
            "incomplete" | "incomplete_expired" | "unpaid" | "paused" | "canceled" => Self::None,
            _ => Self::Unknown,
        }
    }

    /// Whether it gives access.
    #[must_use]
    pub(super) const fn gives_access(self) -> bool {
        match self {
            Self::Active | Self::Trialing | Self::PastDue => true,
            Self::None | Self::Unknown => false,
        }
    }

    /// Whether the subscription has begun: the moment of a welcome.
    #[must_use]
    pub(super) const fn begins(self) -> bool {
        match self {
            Self::Active | Self::Trialing => true,
            Self::PastDue | Self::None | Self::Unknown => false,
        }
    }
}

/// Whether Stripe's status is final for that subscription.
#[must_use]
pub(super) fn is_terminal(status: &str) -> bool {
    matches!(status, "canceled" | "incomplete_expired")
}
