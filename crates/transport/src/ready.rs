/// Connections that may have something to send, each once, in the order in which they came to.
///
/// All are served before the host does anything else, so that what was served is let go of all at once.
#[derive(Debug, Default)]
pub struct Ready {
    waiting: Vec<u32>,
    /// How many of them were served.
    served: usize,
    /// Whether a connection is among those that wait.
    waits: Vec<bool>,
}

impl Ready {
    /// The connection may have something to send.
    #[inline]
    pub fn add(&mut self, id: u32) {
        if self.waits.len() <= id as usize {
            self.waits.resize(id as usize + 1, false);
        }
        if !std::mem::replace(&mut self.waits[id as usize], true) {
            if self.waiting.len() == self.waiting.capacity() {
                self.let_go();
            }
            self.waiting.push(id);
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The first of them.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        self.waiting.get(self.served).copied()
    }

    /// The first has nothing more to send.
    #[inline]
    pub fn served(&mut self) {
        if let Some(id) = self.first() {
            self.waits[id as usize] = false;
            self.served += 1;
            if self.served == self.waiting.len() {
                self.waiting.clear();
                self.served = 0;
            }
        }
    }

    #[cold]
    fn let_go(&mut self) {
        self.waiting.drain(..self.served);
        self.served = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn each_waits_once_and_the_first_is_served_first(steps in prop::collection::vec(prop::option::of(0u32..9), 1..300)) {
            let (mut ready, mut model) = (Ready::default(), VecDeque::new());
            for step in steps {
                match step {
                    Some(id) => {
                        ready.add(id);
                        if !model.contains(&id) {
                            model.push_back(id);
                        }
                    }
                    None => {
                        ready.served();
                        model.pop_front();
                    }
                }
                prop_assert_eq!(ready.first(), model.front().copied());
            }
        }
    }
}
