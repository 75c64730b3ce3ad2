use wire::Time;

/// The earliest of many deadlines: a winner tree, in which setting one costs a comparison per level and asking nothing.
///
/// Of equal deadlines the one with the lowest number is first.
#[derive(Clone, Debug)]
pub struct Deadlines {
    /// A heap's layout: the children of `n` are `2n` and `2n + 1`, the second half are leaves. Each has the earliest
    /// below it and its number, [`packed`]; [`Time::MAX`] where there is none.
    nodes: Vec<i128>,
}

impl Default for Deadlines {
    fn default() -> Deadlines {
        Deadlines::new(1)
    }
}

impl Deadlines {
    /// `count` of them, all never.
    pub fn new(count: usize) -> Deadlines {
        let leaves = count.next_power_of_two();
        let mut nodes = vec![packed(Time::MAX, 0); 2 * leaves];
        for number in 0..leaves {
            nodes[leaves + number] = packed(Time::MAX, number);
        }
        for node in (1..leaves).rev() {
            // The leftmost leaf below: all are equal.
            nodes[node] = nodes[2 * node];
        }
        Deadlines { nodes }
    }

    /// Sets one, making room for it where there is none yet.
    #[inline]
    pub fn set(&mut self, number: usize, at: Time) {
        let mut node = self.nodes.len() / 2 + number;
        if node >= self.nodes.len() {
            self.grow(number + 1);
            node = self.nodes.len() / 2 + number;
        }
        let mut winner = packed(at, number);
        while self.nodes[node] != winner {
            self.nodes[node] = winner;
            if node == 1 {
                return;
            }
            winner = winner.min(self.nodes[node ^ 1]);
            node /= 2;
        }
    }

    /// The first: its time and number. The time is [`Time::MAX`] when there is none.
    #[inline]
    pub fn first(&self) -> (Time, usize) {
        unpacked(self.nodes[1])
    }

    /// One of them.
    pub fn get(&self, number: usize) -> Time {
        self.nodes.get(self.nodes.len() / 2 + number).map_or(Time::MAX, |node| unpacked(*node).0)
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let mut larger = Deadlines::new(count);
        for node in &self.nodes[self.nodes.len() / 2..] {
            let (at, number) = unpacked(*node);
            larger.set(number, at);
        }
        *self = larger;
    }
}

/// A deadline and its number in one number of the same order: compared at once.
#[inline]
fn packed(at: Time, number: usize) -> i128 {
    i128::from(at.as_nanos()) << u32::BITS | i128::from(number as u32)
}

#[inline]
fn unpacked(node: i128) -> (Time, usize) {
    (Time::from_nanos((node >> u32::BITS) as i64), node as u32 as usize)
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
