/// What is known of a path now. Where it has several subflows, of this connection or others: the sums, and the round-trip time of
/// the slowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Whether a subflow stands on it.
    pub carries: bool,
    /// Whether a connection may have no subflow but on it.
    pub is_only: bool,
    /// Bytes that peers acknowledged.
    pub acked_bytes: u64,
    /// Bytes that came, in order or not.
    pub received_bytes: u64,
    /// Whether something was sent and not acknowledged.
    pub outstanding: bool,
    /// Smoothed round-trip time; none before the first sample.
    pub srtt_ns: Option<i64>,
    /// Its deviation.
    pub rttvar_ns: i64,
}

impl Seen {
    /// With what is known of a further subflow.
    #[must_use]
    pub fn with(self, other: &Seen) -> Seen {
        let slower = if other.srtt_ns > self.srtt_ns { other } else { &self };
        Seen {
            carries: self.carries || other.carries,
            is_only: self.is_only || other.is_only,
            acked_bytes: self.acked_bytes + other.acked_bytes,
            received_bytes: self.received_bytes + other.received_bytes,
            outstanding: self.outstanding || other.outstanding,
            srtt_ns: slower.srtt_ns,
            rttvar_ns: slower.rttvar_ns,
        }
    }
}
