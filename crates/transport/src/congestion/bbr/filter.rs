//! Maxima over a window of rounds.

use std::collections::VecDeque;

/// The greatest of the last rounds.
#[derive(Clone, Debug, Default)]
pub struct Greatest {
    /// Round and value, values sinking: each is the greatest once those before it are too old.
    values: VecDeque<(u64, f64)>,
}

impl Greatest {
    /// A value of `round`; those that are more than `rounds` older are forgotten.
    pub fn push(&mut self, round: u64, rounds: u64, value: f64) {
        while self.values.back().is_some_and(|&(_, other)| other <= value) {
            self.values.pop_back();
        }
        self.values.push_back((round, value));
        while self.values.front().is_some_and(|&(then, _)| then + rounds < round) {
            self.values.pop_front();
        }
    }

    /// The greatest; 0 before there is one.
    pub fn get(&self) -> f64 {
        self.values.front().map_or(0.0, |&(_, value)| value)
    }
}
