//! The least round-trip time of late (Linux's `tcp_min_rtt_wlen`): on a path that became longer, what it once took counts no
//! more after some minutes.

use wire::Time;

/// A quarter of the window, which is 300 s.
const QUARTER_NS: i64 = 75_000_000_000;
const QUARTERS: usize = 5;

/// Least round-trip times of the present quarter and of the four before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Least {
    quarter: i64,
    least_ns: [Option<i64>; QUARTERS],
    /// The least of them.
    all_ns: Option<i64>,
}

impl Least {
    /// A round trip took `rtt_ns`.
    #[inline]
    pub fn push(&mut self, now: Time, rtt_ns: i64) {
        let quarter = now.as_nanos() / QUARTER_NS;
        if quarter > self.quarter || self.least_ns[0].is_none_or(|least| least > rtt_ns) {
            self.change(quarter, rtt_ns);
        }
    }

    #[inline(never)] // seldom
    fn change(&mut self, quarter: i64, rtt_ns: i64) {
        let passed = (quarter - self.quarter).clamp(0, QUARTERS as i64) as usize;
        if passed > 0 {
            self.least_ns.rotate_right(passed % QUARTERS);
            self.least_ns[..passed].fill(None);
            self.quarter = quarter;
        }
        self.least_ns[0] = Some(rtt_ns);
        self.all_ns = self.least_ns.iter().flatten().min().copied();
    }

    /// The least, as of the last that was seen.
    pub fn get(&self) -> Option<i64> {
        self.all_ns
    }
}
