use std::time::{Instant, SystemTime, UNIX_EPOCH};
use wire::Time;

/// Time since 1970 as it was at the start, and as much later as the monotonic clock says: it never steps.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: Time,
    start: Instant,
}

impl Clock {
    /// Begins now.
    pub fn start() -> Clock {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { epoch: Time::from_nanos(since_1970.as_nanos() as i64), start: Instant::now() }
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.epoch + self.start.elapsed().as_nanos() as i64
    }
}
