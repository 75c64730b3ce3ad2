//! What passed in short times, and how two times that follow each other become one.

/// A short time of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Whole {
    /// Bytes in order; at the sender, once all is known, those acknowledged at connection level.
    pub(crate) came_bytes: u32,
    pub(super) confirmed_bytes: u32,
    /// At the sender: time without unacknowledged data.
    pub(crate) idle_us: u32,
    /// At the sender: segments sent, and those of them that filled the window.
    pub(crate) segments: u32,
    pub(crate) limited: u32,
    /// At the sender: the receive window, as it was last announced.
    pub(crate) window_bytes: u32,
    /// At the sender: time in which the receive window was shut.
    pub(crate) shut_us: u32,
    /// At the receiver: time in which data waited for earlier data.
    pub(crate) waited_us: u32,
}

/// A short time of a subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bin {
    /// New bytes that arrived; at the sender, once all is known, those acknowledged.
    pub(crate) came_bytes: u32,
    pub(super) confirmed_bytes: u32,
    /// Bytes that another subflow, or this one, had brought before.
    pub(crate) again_bytes: u32,
    /// Those that this one had brought.
    pub(crate) own_again_bytes: u32,
    /// At the sender: in flight when last known, and one more; 0: nothing told.
    pub(crate) left_bytes: u32,
    /// Least round-trip time; 0: none measured.
    pub(crate) rtt_us: u32,
    /// At the receiver: time in which other subflows' data waited for what this one was slow to bring.
    pub(crate) waited_us: u32,
    /// At the receiver: time in which data waited for what this one had lost and sent again itself.
    pub(crate) repaired_us: u32,
    /// At the sender: some data was acknowledged, be it selectively.
    pub(crate) answered: bool,
    /// At the sender: segments sent again after a silence, but for one since which nothing was sent that was not answered; and those of them whose silence was half as long again as the last.
    pub(crate) timeouts: u8,
    pub(crate) backed_off: u8,
    /// At the sender: segments sent again, but for those of a silence.
    pub(crate) resent: u8,
    /// At the sender: silences with time-outs of which it turned out that the path had held packets up and lost none.
    pub(crate) spurious: u8,
}

impl Bin {
    /// At the receiver: time in which data waited for this subflow, seconds.
    pub(crate) fn held_s(&self) -> f64 {
        (f64::from(self.waited_us) + f64::from(self.repaired_us)) / 1e6
    }
}

impl And for Whole {
    fn and(self, other: Whole) -> Whole {
        Whole {
            came_bytes: self.came_bytes.saturating_add(other.came_bytes),
            confirmed_bytes: self.confirmed_bytes.saturating_add(other.confirmed_bytes),
            idle_us: self.idle_us.saturating_add(other.idle_us),
            segments: self.segments + other.segments,
            limited: self.limited + other.limited,
            window_bytes: self.window_bytes.max(other.window_bytes),
            shut_us: self.shut_us.saturating_add(other.shut_us),
            waited_us: self.waited_us.saturating_add(other.waited_us),
        }
    }
}

impl And for Bin {
    fn and(self, other: Bin) -> Bin {
        Bin {
            came_bytes: self.came_bytes.saturating_add(other.came_bytes),
            confirmed_bytes: self.confirmed_bytes.saturating_add(other.confirmed_bytes),
            again_bytes: self.again_bytes.saturating_add(other.again_bytes),
            own_again_bytes: self.own_again_bytes.saturating_add(other.own_again_bytes),
            left_bytes: if other.left_bytes > 0 { other.left_bytes } else { self.left_bytes },
            rtt_us: match (self.rtt_us, other.rtt_us) {
                (0, rtt_us) | (rtt_us, 0) => rtt_us,
                (one, other) => one.min(other),
            },
            waited_us: self.waited_us.saturating_add(other.waited_us),
            repaired_us: self.repaired_us.saturating_add(other.repaired_us),
            answered: self.answered || other.answered,
            timeouts: self.timeouts.saturating_add(other.timeouts),
            backed_off: self.backed_off.saturating_add(other.backed_off),
            resent: self.resent.saturating_add(other.resent),
            spurious: self.spurious.saturating_add(other.spurious),
        }
    }
}

/// Two times that follow each other are one.
pub(super) trait And: Copy + Default {
    fn and(self, other: Self) -> Self;
}

/// Puts a bin in a place behind all others, or adds it to what is there.
pub(super) fn put<B: And>(bins: &mut Vec<B>, index: usize, bin: B) {
    if index >= bins.len() {
        bins.resize(index, B::default());
        bins.push(bin);
    } else {
        bins[index] = bins[index].and(bin);
    }
}

pub(super) fn halve<B: And>(bins: &mut Vec<B>) {
    let halves = bins.chunks(2).map(|pair| pair.iter().fold(B::default(), |sum, &bin| sum.and(bin)));
    *bins = halves.collect();
}
