use crate::row::row;
use std::{net::IpAddr, sync::Arc};
use wire::Direction;

row! {
    /// One row per event.
    pub struct Event {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow that carried it.
        subflow: Option<u32>,
        /// Time, Unix time.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// What happened: see the list of events in the reference.
        event: &'static str,
        /// Direction of the packet.
        direction: Option<Direction>,
        /// Further details, in words.
        detail: Option<&'static str>,
        /// Address identifier, if the event has one.
        address_id: Option<u8>,
        /// Address, if the event has one.
        address: Option<IpAddr>,
        /// Port, if the event has one.
        port: Option<u16>,
        /// Bytes that the event is about, if any.
        bytes: Option<u64>,
        /// Duration, if the event has one.
        duration_ms: Option<f64>,
        /// Capture that holds the packet.
        capture: Arc<str>,
        /// Number of the packet in the capture, from 1.
        record: u64,
    }
}
