use crate::row::row;
use wire::Direction;

row! {
    /// One row per bin of a quantity's distribution that holds samples: those that the quantity's mean and quantiles in `flows` and `transfers` are made of. The bins are the same everywhere, so that those of several connections add up.
    pub struct Distribution {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow; empty for all subflows together.
        subflow: Option<u32>,
        /// Direction of the data.
        direction: Direction,
        /// `rtt`, per subflow and for all together, or `out_of_order_delay`, for all together.
        quantity: &'static str,
        /// Least value that the bin holds; each power of two of nanoseconds is cut into 128 bins.
        from_ms: f64,
        /// First value beyond the bin.
        to_ms: f64,
        /// Samples in the bin.
        count: u64,
    }
}
