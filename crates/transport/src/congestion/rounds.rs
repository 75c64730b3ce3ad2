use super::Acked;

/// Round trips, as ACKs tell them: one ends when what was on its way at its start is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// Packets of the round that are not acknowledged yet; none before the first.
    left: Option<u32>,
}

impl Rounds {
    /// An ACK came: it may end a round.
    pub fn count(&mut self, acked: &Acked) {
        self.left = self.left.and_then(|left| left.checked_sub(acked.passed_packets));
    }

    /// Counts an ACK; whether a round begins with it.
    pub fn is_new(&mut self, acked: &Acked) -> bool {
        self.count(acked);
        self.begins(acked)
    }

    /// Whether a round begins with this ACK, which was counted: none is under way.
    pub fn begins(&mut self, acked: &Acked) -> bool {
        let begins = self.left.is_none();
        if begins {
            self.left = Some(acked.in_flight_packets.saturating_sub(acked.passed_packets));
        }
        begins
    }
}
