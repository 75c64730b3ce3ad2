use std::collections::VecDeque;
use wire::Time;

/// What leaves at times that are known, first those that leave first.
#[derive(Debug)]
pub(crate) struct Flight<T> {
    leaving: VecDeque<(Time, T)>,
    /// When the first leaves, which is asked for more often than it changes; [`Time::MAX`] where there is none.
    first: Time,
}

impl<T> Default for Flight<T> {
    fn default() -> Self {
        Flight { leaving: VecDeque::new(), first: Time::MAX }
    }
}

impl<T> Flight<T> {
    /// Adds what leaves then; behind what leaves at the same time.
    #[inline]
    pub fn add(&mut self, leaves: Time, one: T) {
        match self.leaving.back() {
            Some((last, _)) if *last > leaves => self.insert(leaves, one),
            _ => self.leaving.push_back((leaves, one)),
        }
        self.first = self.first.min(leaves);
    }

    /// Adds what leaves before some that was there.
    #[cold]
    fn insert(&mut self, leaves: Time, one: T) {
        let index = self.leaving.partition_point(|(at, _)| *at <= leaves);
        self.leaving.insert(index, (leaves, one));
    }

    /// The next whose time has come.
    #[inline]
    pub fn next(&mut self, now: Time) -> Option<T> {
        if self.first > now {
            return None;
        }
        let next = self.leaving.pop_front().map(|(_, one)| one);
        self.first = self.leaving.front().map_or(Time::MAX, |(at, _)| *at);
        next
    }

    /// When the first leaves.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.first
    }

    /// All of it, with its times.
    pub fn drain(&mut self) -> impl Iterator<Item = (Time, T)> {
        self.first = Time::MAX;
        self.leaving.drain(..)
    }
}
