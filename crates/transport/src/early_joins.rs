//! Joins that came before the keys that name their connection.

use crate::connection::Opening;
use std::collections::VecDeque;
use wire::Frame;

/// A SYN with MP_JOIN that names its connection by the opener's key.
pub struct EarlyJoin {
    /// The connection's name.
    pub token: u32,
    /// The subflow that it would open.
    pub opening: Opening,
    /// The SYN.
    pub frame: Frame,
}

/// Joins that are kept until their connection is known, each 4-tuple's last.
#[derive(Default)]
pub struct EarlyJoins(VecDeque<EarlyJoin>);

/// So many are kept: of those whose connection never comes, too.
const MOST: usize = 64;

impl EarlyJoins {
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps one, in the place of an earlier one of its 4-tuple or, where there are too many, of the oldest.
    pub fn keep(&mut self, join: EarlyJoin) {
        let tuple = |join: &EarlyJoin| (join.opening.local, join.opening.remote);
        self.0.retain(|other| tuple(other) != tuple(&join));
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(join);
    }

    /// Gives up those of a connection, in the order in which they came.
    pub fn take(&mut self, token: u32) -> VecDeque<EarlyJoin> {
        let (own, others) = std::mem::take(&mut self.0).into_iter().partition(|join| join.token == token);
        self.0 = others;
        own
    }
}
