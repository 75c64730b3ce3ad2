//! Tail loss probes (RFC 8985 §7): when ACKs stop, one segment is sent whose ACK starts fast recovery instead of waiting
//! for the time-out.

const MAX_ACK_DELAY_NS: i64 = 200_000_000;
const UNKNOWN_RTT_NS: i64 = 1_000_000_000;
const LEAST_NS: i64 = 2_000_000; // two ticks of a kernel

/// The probe that is out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tlp {
    out: Option<Probe>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Probe {
    end: u64,
    retransmission: bool,
}

/// What an ACK says of the probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Everything below is acknowledged.
    pub acked: u64,
    /// It reports the probe as a duplicate (RFC 2883).
    pub duplicate: bool,
    /// It says nothing else: no progress, no data, same window.
    pub bare: bool,
}

impl Tlp {
    /// How long to wait for an ACK (RFC 8985 §7.2).
    pub fn timeout_ns(srtt_ns: Option<i64>, flight: u32) -> i64 {
        match srtt_ns {
            None => UNKNOWN_RTT_NS,
            // A lone segment's ACK may be delayed.
            Some(srtt) => 2 * srtt + if flight == 1 { MAX_ACK_DELAY_NS } else { LEAST_NS },
        }
    }

    /// Whether another may be sent: one at a time.
    pub fn is_free(&self) -> bool {
        self.out.is_none()
    }

    /// Whether a segment that ends at `end` is that of the probe.
    pub fn is_of(&self, end: u64) -> bool {
        self.out.is_some_and(|probe| probe.end == end)
    }

    /// Whether a probe is out that was sent before.
    pub fn is_copy(&self) -> bool {
        self.out.is_some_and(|probe| probe.retransmission)
    }

    /// A probe was sent; `end` is what follows the highest byte sent.
    pub fn sent(&mut self, end: u64, retransmission: bool) {
        self.out = Some(Probe { end, retransmission });
    }

    /// An ACK came: whether it shows that the probe repaired a loss, for which the window must answer (RFC 8985 §7.4.2).
    pub fn acknowledged(&mut self, answer: &Answer) -> bool {
        let Some(probe) = self.out.filter(|probe| answer.acked >= probe.end) else { return false };
        if !probe.retransmission || answer.duplicate || (answer.acked == probe.end && answer.bare) {
            // New data, or original and probe both arrived.
            self.out = None;
            return false;
        }
        let repaired = answer.acked > probe.end;
        if repaired {
            self.out = None;
        }
        repaired
    }

    /// Recovery began by other means.
    pub fn forget(&mut self) {
        self.out = None;
    }
}
