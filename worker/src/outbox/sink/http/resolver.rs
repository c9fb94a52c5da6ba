//! Looking up a sink's name. The client connects to the addresses that come from here and
//! to no others, so what was checked is what is called, whatever the name leads to a moment
//! later.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;

use super::address::{AllowedAddresses, Special};

/// The system's resolver, without the addresses that may not be called.
#[derive(Debug)]
pub(super) struct Resolver(Arc<AllowedAddresses>);

impl Resolver {
    pub(super) fn new(allowed: AllowedAddresses) -> Self {
        Self(Arc::new(allowed))
    }
}

/// A name that leads to nothing but addresses that may not be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its name leads to {address}, {special}, which allow_private does not list")]
pub(super) struct Forbidden {
    address: IpAddr,
    special: Special,
}

impl Forbidden {
    /// The one behind `error`, if any.
    pub(super) fn behind(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(forbidden) = error.downcast_ref::<Self>() {
                return Some(*forbidden);
            }
            next = error.source();
        }
        None
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = Arc::clone(&self.0);
        Box::pin(async move {
            // The client puts the URL's port in the place of 0.
            let found = lookup_host((name.as_str(), 0)).await?;
            let mut callable = Vec::new();
            let mut forbidden = None;
            for address in found {
                match allowed.refuses(address.ip()) {
                    None => callable.push(address),
                    Some(special) => {
                        forbidden = Some(Forbidden {
                            address: address.ip(),
                            special,
                        });
                    }
                }
            }
            match forbidden {
                Some(forbidden) if callable.is_empty() => Err(forbidden.into()),
                Some(_) | None => Ok(Box::new(callable.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("wrapped")]
    struct Wrapped<E: Error + 'static>(#[source] E);

    #[test]
    fn a_forbidden_address_is_found_behind_what_the_client_wraps_around_it() {
        let forbidden = Forbidden {
            address: "10.0.0.1".parse().unwrap(),
            special: Special::Private,
        };
        assert_eq!(
            Forbidden::behind(&Wrapped(Wrapped(forbidden))),
            Some(forbidden)
        );
        let another = std::io::Error::other("another");
        assert_eq!(Forbidden::behind(&Wrapped(another)), None);
    }
}
