use super::Acked;

/// Round trips, as ACKs tell them: one ends when what was on its way at its start is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rounds {
    /// Packets of the round that are not acknowledged yet; none before the first.
    left: Option<u32>,
}

impl Rounds {
    /// Whether a round begins with this ACK.
    pub fn is_new(&mut self, acked: &Acked) -> bool {
        match &mut self.left {
            Some(left) if *left >= acked.packets => {
                *left -= acked.packets;
                false
            }
            left => {
                *left = Some(acked.in_flight_packets.saturating_sub(acked.packets));
                true
            }
        }
    }
}
