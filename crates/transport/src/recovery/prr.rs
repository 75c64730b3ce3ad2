//! Proportional rate reduction (RFC 6937, RFC 9937) with Linux's slow-start bound: in recovery what is sent follows what
//! arrives, so that the window comes down to ssthresh over a round trip instead of at once.

/// A recovery under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prr {
    prior_cwnd: u64,
    delivered: u64,
    out: u64,
}

/// What an ACK in recovery says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Segments newly delivered.
    pub delivered: u32,
    /// Whether everything lost so far was known before it.
    pub nothing_lost: bool,
    /// Whether it moves the cumulative ACK.
    pub advanced: bool,
}

impl Prr {
    /// Recovery starts with a window of `cwnd` packets.
    pub fn start(&mut self, cwnd: u32) {
        *self = Prr { prior_cwnd: u64::from(cwnd.max(1)), delivered: 0, out: 0 };
    }

    /// An ACK leaves `pipe` packets in flight: the window now.
    pub fn window(&mut self, progress: &Progress, pipe: u32, ssthresh: u32) -> u32 {
        self.delivered += u64::from(progress.delivered);
        let send = if pipe > ssthresh {
            (u64::from(ssthresh) * self.delivered).div_ceil(self.prior_cwnd).saturating_sub(self.out)
        } else {
            let mut send = self.delivered.saturating_sub(self.out).max(u64::from(progress.delivered));
            // RFC 9937: grow as slow start does only while repair makes progress.
            send += u64::from(progress.advanced && progress.nothing_lost);
            send.min(u64::from(ssthresh - pipe))
        };
        // The first retransmission goes at once.
        let send = send.max(u64::from(self.out == 0));
        pipe + u32::try_from(send).unwrap_or(u32::MAX - pipe)
    }

    /// A segment was sent.
    pub fn sent(&mut self) {
        self.out += 1;
    }
}
