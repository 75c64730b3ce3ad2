use wire::Time;

/// The earliest of many deadlines: a winner tree, in which setting one costs a comparison per level and asking nothing.
///
/// Of equal deadlines the one with the lowest number is first.
#[derive(Clone, Debug)]
pub struct Deadlines {
    /// By number; [`Time::MAX`] where there is none.
    times: Vec<Time>,
    /// A heap's layout: the children of `n` are `2n` and `2n + 1`; leaves are not stored. Each node names the earliest
    /// below it.
    winners: Vec<u32>,
}

impl Default for Deadlines {
    fn default() -> Deadlines {
        Deadlines::new(1)
    }
}

impl Deadlines {
    /// `count` of them, all never.
    pub fn new(count: usize) -> Deadlines {
        let leaves = count.next_power_of_two().max(2);
        let mut deadlines = Deadlines { times: vec![Time::MAX; leaves], winners: vec![0; leaves] };
        for node in (1..leaves).rev() {
            // The leftmost leaf below: all are equal.
            deadlines.winners[node] = deadlines.child(2 * node);
        }
        deadlines
    }

    /// Sets one, making room for it where there is none yet.
    #[inline]
    pub fn set(&mut self, number: usize, at: Time) {
        if number >= self.times.len() {
            self.grow(number + 1);
        }
        if self.times[number] == at {
            return;
        }
        self.times[number] = at;
        let mut node = (number + self.times.len()) / 2;
        while node > 0 {
            let (left, right) = (self.child(2 * node), self.child(2 * node + 1));
            let winner = if self.times[right as usize] < self.times[left as usize] { right } else { left };
            if self.winners[node] == winner && winner as usize != number {
                return;
            }
            self.winners[node] = winner;
            node /= 2;
        }
    }

    /// The first: its time and number. The time is [`Time::MAX`] when there is none.
    #[inline]
    pub fn first(&self) -> (Time, usize) {
        let number = self.winners[1] as usize;
        (self.times[number], number)
    }

    /// One of them.
    pub fn get(&self, number: usize) -> Time {
        self.times.get(number).copied().unwrap_or(Time::MAX)
    }

    #[inline]
    fn child(&self, node: usize) -> u32 {
        match node.checked_sub(self.times.len()) {
            Some(leaf) => leaf as u32,
            None => self.winners[node],
        }
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let mut larger = Deadlines::new(count);
        for (number, at) in self.times.iter().enumerate() {
            larger.set(number, *at);
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_go_to_the_lowest_number() {
        let mut deadlines = Deadlines::new(5);
        assert_eq!(deadlines.first(), (Time::MAX, 0));
        for number in [4, 1, 3] {
            deadlines.set(number, Time::from_nanos(7));
        }
        assert_eq!(deadlines.first(), (Time::from_nanos(7), 1));
        deadlines.set(1, Time::MAX);
        assert_eq!(deadlines.first(), (Time::from_nanos(7), 3));
    }

    proptest! {
        #[test]
        fn first_is_the_least(sets in prop::collection::vec((0usize..40, 0i64..20), 1..200)) {
            let mut deadlines = Deadlines::default();
            let mut model = vec![Time::MAX; 40];
            for (number, at) in sets {
                // 0 stands for "never".
                let at = if at == 0 { Time::MAX } else { Time::from_nanos(at) };
                deadlines.set(number, at);
                model[number] = at;
                let least = model.iter().copied().zip(0..).min().unwrap();
                prop_assert_eq!(deadlines.first().0, least.0);
                if least.0 < Time::MAX {
                    prop_assert_eq!(deadlines.first().1, least.1);
                }
            }
        }
    }
}
