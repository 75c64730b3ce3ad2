use std::collections::VecDeque;
use wire::Time;

/// What leaves at times that are known, first those that leave first.
#[derive(Debug)]
pub(crate) struct Flight<T>(VecDeque<(Time, T)>);

impl<T> Default for Flight<T> {
    fn default() -> Self {
        Flight(VecDeque::new())
    }
}

impl<T> Flight<T> {
    /// Adds what leaves then; behind what leaves at the same time.
    #[inline]
    pub fn add(&mut self, leaves: Time, one: T) {
        match self.0.back() {
            Some((last, _)) if *last > leaves => {
                let place = self.0.partition_point(|(at, _)| *at <= leaves);
                self.0.insert(place, (leaves, one));
            }
            _ => self.0.push_back((leaves, one)),
        }
    }

    /// The next whose time has come.
    #[inline]
    pub fn next(&mut self, now: Time) -> Option<T> {
        if self.deadline() <= now { self.0.pop_front().map(|(_, one)| one) } else { None }
    }

    /// When the first leaves.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.0.front().map_or(Time::MAX, |(at, _)| *at)
    }

    /// All of it, with its times.
    pub fn drain(&mut self) -> impl Iterator<Item = (Time, T)> {
        self.0.drain(..)
    }
}
