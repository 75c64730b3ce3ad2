//! What was reported to the application, and is not reported again.

/// Each method says whether the application is to hear of it now, which it does once.
#[derive(Default)]
pub(super) struct Reported {
    readable: bool,
    finished: bool,
    delivered: bool,
    over: bool,
}

impl Reported {
    /// There is something to read, where there was nothing.
    #[inline]
    pub fn readable(&mut self) -> bool {
        first(&mut self.readable)
    }

    /// The application has read; something may be left.
    pub fn read(&mut self, left: bool) {
        self.readable = left;
    }

    /// The peer sent all that it had.
    pub fn finished(&mut self) -> bool {
        first(&mut self.finished)
    }

    /// The peer has all that was written.
    pub fn delivered(&mut self) -> bool {
        first(&mut self.delivered)
    }

    /// The connection is over.
    pub fn over(&mut self) -> bool {
        first(&mut self.over)
    }
}

#[inline]
fn first(reported: &mut bool) -> bool {
    !std::mem::replace(reported, true)
}
