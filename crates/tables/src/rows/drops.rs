use crate::row::row;
use std::{net::IpAddr, sync::Arc};
use wire::Direction;

row! {
    /// One row per packet that did not arrive, and why. Only simulations have them.
    pub struct Dropped {
        /// Time, Unix time.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// Where it was dropped: `link`, `path` or `host`.
        kind: &'static str,
        /// Name of the link, path or host.
        place: Arc<str>,
        /// Element that dropped it: its index, from 0, and its name, as in `0:rate`; empty if no element did.
        element: Option<Arc<str>>,
        /// `up`: client to server, `down`: server to client.
        direction: Direction,
        /// Reason: `queue-full`, `queue-managed`, `loss`, `given-up`, `handover`, `blackout`, `detached`,
        /// `unreachable`, `too-big`, `filtered` (by a firewall) or `no-mapping` (at a NAT).
        reason: &'static str,
        /// IP protocol number: 6 is TCP, 17 UDP.
        protocol: u8,
        /// Source address.
        source_address: Option<IpAddr>,
        /// Port; empty if the packet has none.
        source_port: Option<u16>,
        /// Destination address.
        destination_address: Option<IpAddr>,
        /// Its port.
        destination_port: Option<u16>,
        /// Length of the IP packet in bytes.
        bytes: u32,
    }
}
