use crate::row::row;
use wire::Direction;

row! {
    /// One row per bin, direction and subflow. Rows without a subflow are for the connection as a whole.
    pub struct Throughput {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow; empty for the connection.
        subflow: Option<u32>,
        /// `up`: client to server, `down`: server to client.
        direction: Direction,
        /// Start of the bin, Unix time. Bins start at the connection's first packet.
        at_ns: i64,
        /// Start of the bin, from the first packet of all captures.
        at_s: f64,
        /// Bytes that arrived for the first time in the bin; at the data sender, bytes acknowledged in it. For the
        /// connection: bytes delivered in order.
        bytes: u64,
        /// Bytes / length of the bin. The last bin ends at the last packet.
        throughput_mbps: f64,
    }
}
