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
    /// At the sender: in flight when last known, and one more; 0: unknown.
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
pub(super) trait And: Copy + Default + PartialEq {
    fn and(self, other: Self) -> Self;
}

/// Bins while they are being filled: equal ones that follow each other are kept once, as those of an idle connection are.
#[derive(Clone, Debug)]
pub(super) struct Runs<B> {
    runs: Vec<(B, u32)>,
    len: usize,
}

impl<B> Default for Runs<B> {
    fn default() -> Self {
        Runs { runs: Vec::new(), len: 0 }
    }
}

impl<B: And> Runs<B> {
    /// Puts a bin at an index behind all others, or adds it to the one that is there.
    pub(super) fn put(&mut self, index: usize, bin: B) {
        let at = self.at(index);
        *at = at.and(bin);
    }

    /// The bin at an index, with empty ones before it where there are none yet.
    pub(super) fn at(&mut self, index: usize) -> &mut B {
        if index >= self.len {
            self.append(B::default(), index - self.len);
            self.append(B::default(), 1);
        }
        let mut from = self.len;
        let mut run = self.runs.len();
        while from > index {
            run -= 1;
            from -= self.runs[run].1 as usize;
        }
        let (bin, count) = self.runs[run];
        let before = (index - from) as u32;
        let parts = [before, 1, count - before - 1].map(|count| (bin, count));
        if count > 1 {
            self.runs.splice(run..=run, parts.into_iter().filter(|(_, count)| *count > 0));
        }
        &mut self.runs[run + usize::from(before > 0)].0
    }

    /// A bin is not changed any more once another follows it: then it may be like the one before.
    fn append(&mut self, bin: B, count: usize) {
        if count == 0 {
            return;
        }
        if let [.., before, last] = &mut *self.runs
            && before.0 == last.0
        {
            before.1 += last.1;
            self.runs.pop();
        }
        self.runs.push((bin, count as u32));
        self.len += count;
    }

    /// Makes one of two that follow each other.
    pub(super) fn halve(&mut self) {
        let bins = std::mem::take(self).all();
        let halves = bins.chunks(2).map(|pair| pair.iter().fold(B::default(), |sum, &bin| sum.and(bin)));
        halves.for_each(|bin| self.append(bin, 1));
    }

    /// All of them, one by one.
    pub(super) fn all(self) -> Vec<B> {
        let mut bins = Vec::with_capacity(self.len);
        self.runs.into_iter().for_each(|(bin, count)| bins.extend(std::iter::repeat_n(bin, count as usize)));
        bins
    }
}
