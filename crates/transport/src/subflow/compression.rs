//! ACKs for what comes out of order wait for each other, as Linux's do since 4.18 (`__tcp_ack_snd_check` in
//! net/ipv4/tcp_input.c): each says with selective acknowledgements what those before it said.

/// Longest that they wait (`tcp_comp_sack_delay_ns`), …
const MOST_NS: i64 = 1_000_000;
/// … which is this part of the round-trip time at most, …
const PART: i64 = 20;
/// … or for so many segments (`tcp_comp_sack_nr`).
const MOST: u32 = 44;
/// Duplicate ACKs after which a sender without RACK knows of the hole (`TCP_FASTRETRANS_THRESH`): these never wait.
const DUPLICATES: u32 = 3;

/// How long they wait with this round-trip time.
pub(super) fn wait_ns(rtt_ns: Option<i64>) -> i64 {
    rtt_ns.map_or(MOST_NS, |rtt| MOST_NS.min(rtt / PART))
}

/// What waits for an ACK behind the same hole.
#[derive(Debug, Default)]
pub(super) struct Compression {
    /// Where the hole begins.
    hole: u64,
    duplicates: u32,
    waiting: u32,
}

impl Compression {
    /// A segment came behind the hole that begins there: whether its ACK is due at once.
    pub fn is_due(&mut self, hole: u64) -> bool {
        if self.waiting >= MOST {
            return true;
        }
        if self.hole != hole {
            (self.hole, self.duplicates) = (hole, 0);
        }
        if self.duplicates < DUPLICATES {
            self.duplicates += 1;
            return true;
        }
        self.waiting += 1;
        false
    }

    /// An ACK leaves.
    #[inline]
    pub fn acknowledged(&mut self) {
        self.waiting = 0;
    }
}
