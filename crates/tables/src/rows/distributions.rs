use crate::row::row;
use wire::Direction;

row! {
    /// One row per bin with samples of a quantity's distribution. The mean and quantiles in `flows` and `transfers`
    /// come from the same samples. Bins are the same everywhere, so distributions of several connections can be added.
    pub struct Distribution {
        /// Number of the connection.
        connection: u32,
        /// Number of the subflow; empty for all subflows together.
        subflow: Option<u32>,
        /// Direction of the data.
        direction: Direction,
        /// `rtt`, per subflow and for all subflows together, or `out_of_order_delay`, for all subflows together.
        quantity: &'static str,
        /// Lower edge of the bin (included). Each power of two of nanoseconds is divided into 128 bins.
        from_ms: f64,
        /// Upper edge of the bin (excluded).
        to_ms: f64,
        /// Number of samples in the bin.
        count: u64,
    }
}
