use std::collections::VecDeque;
use std::sync::Arc;
use wire::Original;

/// More than any IP packet.
const ROOM: usize = (1 << 16) + 64;
/// What is shorter is copied, so that small packets that wait do not hold much memory.
const SHORT: usize = 1 << 14;
/// Pieces of memory that are kept for another time.
const MOST: usize = 1024;

/// Memory that frames are read into, used again when no packet holds it any more.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Those lent longest ago first.
    lent: VecDeque<Arc<Original>>,
}

impl Memory {
    /// Memory that nobody else has.
    pub fn take(&mut self) -> Arc<Original> {
        match self.lent.pop_front() {
            Some(original) if Arc::strong_count(&original) == 1 => original,
            held => {
                if let Some(held) = held.filter(|_| self.lent.len() < MOST) {
                    self.lent.push_back(held);
                }
                Arc::new(Original::with_room(ROOM))
            }
        }
    }

    /// Memory for what was read into `original`: itself, or a copy.
    pub fn settle(&mut self, mut original: Arc<Original>, len: usize) -> Arc<Original> {
        if len > SHORT {
            return original;
        }
        let copy = Original::copy(&Arc::get_mut(&mut original).expect("nobody else has it").room()[..len]);
        self.give_back(original);
        Arc::new(copy)
    }

    /// Packets hold it from now on.
    pub fn lend(&mut self, original: Arc<Original>) {
        if original.bytes().len() > SHORT {
            self.lent.push_back(original);
        }
    }

    /// Nobody holds it.
    pub fn give_back(&mut self, original: Arc<Original>) {
        self.lent.push_front(original);
    }
}
