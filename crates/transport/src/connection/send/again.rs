//! Data that one subflow was given and another is to be.

use super::{Outstanding, Send};

impl Send {
    /// The oldest piece that waits to be given again.
    #[inline(never)] // only after losses
    pub(super) fn due_again(&mut self) -> Option<Outstanding> {
        while let Some(&data_offset) = self.again.front() {
            match self.find(data_offset) {
                Some(at) if self.outstanding[at].again => return Some(self.outstanding[at]),
                _ => self.again.pop_front(),
            };
        }
        None
    }

    /// Bytes that wait to be given again, from the first on without a gap: pieces until there are `enough`.
    pub fn again_bytes(&self, enough: u64) -> u64 {
        let first =
            self.again.front().and_then(|&data_offset| self.find(data_offset)).unwrap_or(self.outstanding.len());
        let mut bytes = 0;
        for piece in self.outstanding.range(first..).take_while(|piece| piece.again) {
            bytes += u64::from(piece.len);
            if bytes >= enough {
                break;
            }
        }
        bytes
    }

    /// The oldest piece that the peer lacks.
    pub fn head(&self) -> Option<&Outstanding> {
        self.outstanding.front()
    }

    /// The oldest piece from `data_offset` on that the peer lacks and `subflow` was not given.
    pub fn lacking(&self, data_offset: u64, subflow: usize) -> Option<Outstanding> {
        let from = self.outstanding.partition_point(|piece| piece.data_offset < data_offset);
        self.outstanding.range(from..).find(|piece| piece.sent_on & (1 << subflow) == 0).copied()
    }

    /// A piece also goes to `subflow`.
    pub fn give_again(&mut self, data_offset: u64, subflow: usize) {
        if let Some(at) = self.find(data_offset) {
            let piece = &mut self.outstanding[at];
            piece.sent_on |= 1 << subflow;
            piece.holder = subflow;
            piece.again = false;
        }
    }

    /// The pieces between two offsets are stuck: they are to be given to a subflow that has not had them. With `forget`,
    /// the subflow is gone and its bit with it.
    pub fn reinject(&mut self, from: u64, to: u64, forget: Option<usize>) {
        let first = self.outstanding.partition_point(|piece| piece.data_offset + u64::from(piece.len) <= from);
        for piece in self.outstanding.range_mut(first..).take_while(|piece| piece.data_offset < to) {
            piece.sent_on &= !forget.map_or(0, |gone| 1 << gone);
            if !piece.again {
                piece.again = true;
                let at = self.again.partition_point(|&other| other < piece.data_offset);
                self.again.insert(at, piece.data_offset);
            }
        }
    }

    /// All pieces are to be given once more, by whomever they are carried; one of them may be `gone`
    /// (net/mptcp/protocol.c, __mptcp_retransmit_pending_data).
    pub fn reinject_outstanding(&mut self, gone: Option<usize>) {
        for piece in &mut self.outstanding {
            piece.again = true;
            piece.sent_on &= !gone.map_or(0, |gone| 1 << gone);
        }
        self.again = self.outstanding.iter().map(|piece| piece.data_offset).collect();
    }

    /// Pieces from the first that the peer lacks to `end`, or to where a later write is kept apart.
    pub fn first_pieces(&self, end: u64) -> Vec<Outstanding> {
        let first = self.una;
        self.outstanding
            .iter()
            .take_while(|piece| piece.data_offset < end && !(piece.apart && piece.data_offset > first))
            .copied()
            .collect()
    }

    /// All pieces that no subflow carries any more, as after the death of the last.
    pub fn reinject_all(&mut self) {
        for piece in &mut self.outstanding {
            piece.again = true;
            piece.sent_on = 0;
        }
        self.again = self.outstanding.iter().map(|piece| piece.data_offset).collect();
    }

    /// An index of the connection's subflows is used anew: what its last owner had says nothing of the next.
    pub fn forget(&mut self, subflow: usize) {
        for piece in &mut self.outstanding {
            piece.sent_on &= !(1 << subflow);
        }
    }

    /// Nothing that was given counts as given: a fallback begins again at what is acknowledged.
    pub fn rewind(&mut self) {
        self.next = self.una;
        self.end_given = false;
        self.outstanding.clear();
        self.again.clear();
    }

    fn find(&self, data_offset: u64) -> Option<usize> {
        let at = self.outstanding.partition_point(|piece| piece.data_offset <= data_offset).checked_sub(1)?;
        let piece = self.outstanding[at];
        (data_offset < piece.data_offset + u64::from(piece.len)).then_some(at)
    }
}
