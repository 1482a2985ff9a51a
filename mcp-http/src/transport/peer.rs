//! Whose connection it is, for limits and logs. Forwarded headers count only from configured proxies (promise D-8).

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use ipnet::IpNet;

/// The address that a request came from, as far as it can be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(pub IpAddr);

/// Proxies that are believed when they say for whom they speak.
#[derive(Clone, Debug, Default)]
pub struct Proxies(Vec<IpNet>);

/// A text that names no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("trusted proxy `{0}` is not an address or a network such as `10.0.0.0/8`")]
pub struct ProxyError(pub String);

impl Proxies {
    /// Reads addresses and networks.
    pub fn new(given: &[String]) -> Result<Self, ProxyError> {
        let read = |text: &String| {
            text.parse::<IpNet>()
                .or_else(|_no_network| text.parse::<IpAddr>().map(IpNet::from))
                .map_err(|_no_address| ProxyError(text.clone()))
        };
        given.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    fn trust(&self, ip: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&ip))
    }

    /// Walks `X-Forwarded-For` from the right, over proxies that are trusted, to the first address that is not.
    /// What stands left of it was written by whoever sent the request.
    pub fn peer(&self, connection: SocketAddr, headers: &HeaderMap) -> Peer {
        let mut known = connection.ip().to_canonical();
        let forwarded = headers.get_all("x-forwarded-for").iter().rev();
        let hops = forwarded
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.rsplit(','));
        for hop in hops {
            if !self.trust(known) {
                break;
            }
            let Ok(ip) = hop.trim().parse::<IpAddr>() else {
                break;
            };
            known = ip.to_canonical();
        }
        Peer(known)
    }
}
