use crate::row::row;
use std::{net::IpAddr, sync::Arc};
use wire::Direction;

row! {
    /// One row per packet that did not arrive, and why. Simulations fill it.
    pub struct Dropped {
        /// Time, Unix time.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// Where it ended: `link`, `path` or `host`.
        kind: &'static str,
        /// Name of the link, path or host.
        place: Arc<str>,
        /// The element that dropped it: its index, from 0, and its name, as `0:rate`; empty outside elements.
        element: Option<Arc<str>>,
        /// `up`: client to server, `down`: server to client.
        direction: Direction,
        /// Why: `queue-full`, `queue-managed`, `loss`, `given-up`, `handover`, `blackout`, `detached`, `unreachable`, `too-big`,
        /// `filtered` (by a firewall) or `no-mapping` (of a NAT).
        reason: &'static str,
        /// Protocol number: 6 is TCP, 17 UDP.
        protocol: u8,
        /// Sender.
        source_address: Option<IpAddr>,
        /// Its port; empty where the packet has none.
        source_port: Option<u16>,
        /// Receiver.
        destination_address: Option<IpAddr>,
        /// Its port.
        destination_port: Option<u16>,
        /// Bytes of the IP packet.
        bytes: u32,
    }
}
