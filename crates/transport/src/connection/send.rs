//! Sending: what the application wrote, what the peer has, and what is given to which subflow.

use crate::scheduler::FRAGMENT_BYTES;
use std::collections::VecDeque;

/// The sending half of a connection. Places count the application's bytes from 0.
#[derive(Debug)]
pub struct Send {
    /// Everything below this place was written by the application.
    written: u64,
    /// Where the pages begin that a writer fills.
    pages: u64,
    /// Where the last write began that found all before it given to subflows.
    apart: u64,
    /// Everything below this place was given to a subflow at least once.
    next: u64,
    /// Everything below this place is acknowledged by the peer (DATA_ACK).
    una: u64,
    /// The peer takes bytes below this place.
    edge: u64,
    /// The peer's window as last told.
    window: u64,
    /// The widest that it was.
    most_window: u64,
    /// The window holds data back.
    bound: bool,
    /// Nothing more will be written.
    closed: bool,
    /// The end (DATA_FIN) was told, with the last bytes or without.
    end_given: bool,
    /// The peer acknowledged the end.
    end_acknowledged: bool,
    /// Pieces given to subflows and not acknowledged, by place.
    outstanding: VecDeque<Outstanding>,
    /// Places of pieces to be given to another subflow.
    again: VecDeque<u64>,
    /// Bytes that it may hold, those beside the data among them.
    buffer: u64,
    /// Bytes beside the data.
    beside: u64,
    /// A writer had more than there was room for, and waits until it is worth its while.
    wanting: bool,
}

/// A piece of data that was given to a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outstanding {
    /// First byte.
    pub place: u64,
    /// Bytes.
    pub len: u32,
    /// The end of the data follows it.
    pub end: bool,
    /// Subflows that it was given to, one bit each.
    pub sent_on: u64,
    /// The last of them.
    pub holder: usize,
    /// Waits to be given to another.
    again: bool,
    /// A write began with it that upstream Linux keeps apart from what was written before (mptcp_pending_tail).
    apart: bool,
}

/// What is to be sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Data that a subflow was given and could not deliver.
    Again(Outstanding),
    /// New data.
    New {
        /// Bytes that wait.
        bytes: u64,
        /// Bytes that the peer's window takes.
        window_bytes: u64,
    },
    /// New data that the peer's window does not take.
    Blocked,
    /// Nothing.
    Nothing,
}

impl Send {
    /// That holds nothing as yet.
    pub fn new() -> Send {
        Send {
            written: 0,
            pages: 0,
            apart: 0,
            next: 0,
            una: 0,
            edge: 0,
            window: 0,
            most_window: 0,
            bound: true,
            closed: false,
            end_given: false,
            end_acknowledged: false,
            outstanding: VecDeque::new(),
            again: VecDeque::new(),
            buffer: 0,
            beside: 0,
            wanting: false,
        }
    }

    /// From now on it may hold `bytes`, of which `beside` are taken by what is not data.
    pub fn set_buffer(&mut self, bytes: u64, beside: u64) {
        (self.buffer, self.beside) = (bytes, beside);
    }

    /// Whether somebody waits for room.
    pub fn is_wanting(&self) -> bool {
        self.wanting
    }

    /// Whether who waits for room should hear of it: when a third of the buffer is free (net/core/stream.c,
    /// sk_stream_is_writeable).
    pub fn takes_wanted(&mut self) -> bool {
        let tells = self.wanting && 2 * self.room() >= self.held() && self.room() > 0;
        self.wanting &= !tells;
        tells
    }

    /// What may go is for others to say.
    pub fn unbind(&mut self) {
        self.bound = false;
    }

    /// The peer's window counts again, for what comes next.
    pub fn bind(&mut self) {
        self.bound = true;
    }

    /// Takes up to `bytes`, of which there is `room` for so many; says how many. In `fragments`, the last that begins is filled,
    /// as room is asked for only before each (net/mptcp/protocol.c, mptcp_sendmsg).
    pub fn write(&mut self, bytes: u64, room: u64, fragments: bool) -> u64 {
        if self.all_acknowledged() {
            // Nobody holds anything of the page: it is filled anew (net/core/sock.c, skb_page_frag_refill).
            self.pages = self.written;
        }
        if self.next == self.written {
            self.apart = self.written;
        }
        let ahead = self.written - self.pages;
        let whole = if fragments && room > 0 { (ahead + room).next_multiple_of(FRAGMENT_BYTES) - ahead } else { room };
        let taken = bytes.min(whole);
        self.written += taken;
        self.wanting |= taken < bytes && !self.closed;
        taken
    }

    /// Bytes that it has left.
    pub fn room(&self) -> u64 {
        if self.closed { 0 } else { self.buffer.saturating_sub(self.held()) }
    }

    fn held(&self) -> u64 {
        self.written - self.una + self.beside
    }

    /// Bytes written that no subflow was given yet.
    pub fn waiting(&self) -> u64 {
        self.written - self.next
    }

    /// Nothing more will be written.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether nothing more will be written.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Everything below this place is acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Where the pages begin that a writer fills, and that hold all that is not acknowledged.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Everything below this place was given to a subflow.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Bytes written and not acknowledged.
    pub fn unacknowledged(&self) -> u64 {
        self.written - self.una
    }

    /// What the peer takes beyond what it acknowledged.
    pub fn open_window(&self) -> u64 {
        self.edge.saturating_sub(self.una)
    }

    /// What the peer takes from `place` on.
    pub fn window_from(&self, place: u64) -> u64 {
        self.edge.saturating_sub(place)
    }

    /// The widest window that the peer told.
    pub fn most_window(&self) -> u64 {
        self.most_window
    }

    /// The peer's window as last told.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The place of the end, once all before it was given to subflows.
    pub fn end(&self) -> Option<u64> {
        (self.closed && self.next == self.written).then_some(self.written)
    }

    /// The end, where the peer lacks it and no data under way tells it.
    pub fn end_to_tell(&self) -> Option<u64> {
        let with_data = || self.outstanding.back().is_some_and(|piece| piece.end);
        self.end().filter(|_| !self.end_acknowledged && !with_data())
    }

    /// Whether it must be told now.
    pub fn end_alone(&self) -> bool {
        !self.end_given && self.end_to_tell().is_some()
    }

    /// The end was told.
    pub fn end_told(&mut self) {
        self.end_given = true;
    }

    /// It seems not to have arrived, or found no room beside the last bytes: tell it without them.
    pub fn end_lost(&mut self) {
        self.end_given = false;
        if let Some(last) = self.outstanding.back_mut() {
            last.end = false;
        }
    }

    /// Whether the peer has everything and knows that it is all.
    pub fn delivered(&self) -> bool {
        self.end_acknowledged
    }

    /// Whether nothing is kept for the peer any more.
    pub fn is_empty(&self) -> bool {
        self.outstanding.is_empty() && self.all_acknowledged()
    }

    /// Whether the peer has all bytes that were written.
    pub fn all_acknowledged(&self) -> bool {
        self.una == self.written
    }

    /// The peer has everything below `place`, its window is `window` from there. Says whether that is news.
    #[inline]
    pub fn acknowledged(&mut self, place: u64, window: u64) -> bool {
        // As at the end that only receives.
        let is_known = (place, window) == (self.una, self.window) && !self.closed;
        !is_known && self.take_acknowledgement(place, window)
    }

    fn take_acknowledgement(&mut self, place: u64, window: u64) -> bool {
        let sent = self.next + u64::from(self.end().is_some());
        if place > sent {
            return false; // of what was never sent (RFC 9293 §3.10.7.4)
        }
        if place >= self.una {
            // The right edge never goes back (RFC 8684 §3.3.5).
            self.edge = self.edge.max(place + window);
            self.window = window;
            self.most_window = self.most_window.max(window);
        }
        let ended = self.closed && place > self.written && !self.end_acknowledged;
        self.end_acknowledged |= ended;
        let place = place.min(self.written);
        if place <= self.una {
            return ended;
        }
        self.una = place;
        while self.outstanding.front().is_some_and(|piece| piece.place + u64::from(piece.len) <= place) {
            self.outstanding.pop_front();
        }
        true
    }

    /// What is to be sent next.
    pub fn due(&mut self) -> Due {
        if !self.again.is_empty()
            && let Some(piece) = self.due_again()
        {
            return Due::Again(piece);
        }
        let bytes = self.written - self.next;
        let window_bytes = if self.bound { self.edge.saturating_sub(self.next) } else { u64::MAX };
        match window_bytes {
            _ if bytes == 0 => Due::Nothing,
            0 => Due::Blocked,
            _ => Due::New { bytes, window_bytes },
        }
    }

    /// Whether there is something that a subflow could be given.
    pub fn has_news(&self) -> bool {
        self.written > self.next || !self.again.is_empty()
    }

    /// The oldest piece that waits to be given again.
    #[inline(never)] // only after losses
    fn due_again(&mut self) -> Option<Outstanding> {
        while let Some(&place) = self.again.front() {
            match self.find(place) {
                Some(at) if self.outstanding[at].again => return Some(self.outstanding[at]),
                _ => self.again.pop_front(),
            };
        }
        None
    }

    /// Bytes that wait to be given again, from the first on without a gap: pieces until there are `enough`.
    pub fn again_bytes(&self, enough: u64) -> u64 {
        let first = self.again.front().and_then(|&place| self.find(place)).unwrap_or(self.outstanding.len());
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

    /// The oldest piece from `place` on that the peer lacks and `subflow` was not given.
    pub fn lacking(&self, place: u64, subflow: usize) -> Option<Outstanding> {
        let from = self.outstanding.partition_point(|piece| piece.place < place);
        self.outstanding.range(from..).find(|piece| piece.sent_on & (1 << subflow) == 0).copied()
    }

    /// The next `len` bytes of new data go to `subflow`. Says whether the end goes with them.
    pub fn give(&mut self, len: u32, subflow: usize) -> Outstanding {
        let place = self.next;
        self.next += u64::from(len);
        let end = self.end().is_some();
        self.end_given |= end;
        let apart = place == self.apart;
        let piece = Outstanding { place, len, end, sent_on: 1 << subflow, holder: subflow, again: false, apart };
        self.outstanding.push_back(piece);
        piece
    }

    /// The last piece, which `subflow` has not sent, grows by `len` bytes of new data.
    pub fn extend(&mut self, len: u32, subflow: usize) {
        if len > 0 {
            self.next += u64::from(len);
            let place = self.next - u64::from(len);
            let apart = place == self.apart;
            let piece =
                Outstanding { place, len, end: false, sent_on: 1 << subflow, holder: subflow, again: false, apart };
            // What was given to another subflow meanwhile stays as it was given.
            let grows = |last: &&mut Outstanding| {
                let follows = last.place + u64::from(last.len) == piece.place && !piece.apart;
                follows && last.sent_on == piece.sent_on && !last.again
            };
            match self.outstanding.back_mut().filter(grows) {
                Some(last) => last.len += len,
                None => self.outstanding.push_back(piece),
            }
        }
    }

    /// A piece also goes to `subflow`.
    pub fn give_again(&mut self, place: u64, subflow: usize) {
        if let Some(at) = self.find(place) {
            let piece = &mut self.outstanding[at];
            piece.sent_on |= 1 << subflow;
            piece.holder = subflow;
            piece.again = false;
        }
    }

    /// The pieces between two places are stuck: they are to be given to a subflow that has not had them. With `forget`, the
    /// subflow is gone and its bit with it.
    pub fn reinject(&mut self, from: u64, to: u64, forget: Option<usize>) {
        let first = self.outstanding.partition_point(|piece| piece.place + u64::from(piece.len) <= from);
        for piece in self.outstanding.range_mut(first..).take_while(|piece| piece.place < to) {
            piece.sent_on &= !forget.map_or(0, |gone| 1 << gone);
            if !piece.again {
                piece.again = true;
                let at = self.again.partition_point(|&other| other < piece.place);
                self.again.insert(at, piece.place);
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
        self.again = self.outstanding.iter().map(|piece| piece.place).collect();
    }

    /// Pieces from the first that the peer lacks to `end`, or to where a later write is kept apart.
    pub fn first_pieces(&self, end: u64) -> Vec<Outstanding> {
        let first = self.una;
        self.outstanding
            .iter()
            .take_while(|piece| piece.place < end && !(piece.apart && piece.place > first))
            .copied()
            .collect()
    }

    /// All pieces that no subflow carries any more, as after the death of the last.
    pub fn reinject_all(&mut self) {
        for piece in &mut self.outstanding {
            piece.again = true;
            piece.sent_on = 0;
        }
        self.again = self.outstanding.iter().map(|piece| piece.place).collect();
    }

    /// A place of the connection's subflows is used anew: what its last owner had says nothing of the next.
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

    fn find(&self, place: u64) -> Option<usize> {
        let at = self.outstanding.partition_point(|piece| piece.place <= place).checked_sub(1)?;
        let piece = self.outstanding[at];
        (place < piece.place + u64::from(piece.len)).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(written: u64, window: u64) -> Send {
        let mut send = Send::new();
        send.set_buffer(1 << 20, 0);
        send.write(written, send.room(), false);
        send.acknowledged(0, window);
        send
    }

    #[test]
    fn window_holds_new_data_back_and_its_edge_stays() {
        let mut send = sender(5000, 3000);
        assert_eq!(send.due(), Due::New { bytes: 5000, window_bytes: 3000 });
        send.give(1000, 0);
        send.give(2000, 1);
        assert_eq!(send.due(), Due::Blocked);
        assert!(send.acknowledged(1000, 2500), "is news");
        assert_eq!(send.due(), Due::New { bytes: 2000, window_bytes: 500 });
        assert!(!send.acknowledged(0, 2500), "an older one is none");
        assert!(!send.acknowledged(1000, 1000));
        assert_eq!(send.due(), Due::New { bytes: 2000, window_bytes: 500 }, "a smaller window takes nothing back");
        assert!(!send.acknowledged(4000, 1000), "never sent");
    }

    #[test]
    fn pages_are_filled_anew_once_nothing_of_them_is_held() {
        // Linux 6.18: of responses of 150 kB, each a second after the last, each begins with two whole fragments on one subflow.
        let mut send = sender(5000, 9000);
        send.give(5000, 0);
        send.acknowledged(4000, 9000);
        send.write(1000, send.room(), false);
        assert_eq!(send.pages(), 0);
        send.give(1000, 0);
        send.acknowledged(6000, 9000);
        assert_eq!(send.pages(), 0);
        send.write(1000, send.room(), false);
        assert_eq!(send.pages(), 6000);
        send.write(1000, send.room(), false);
        assert_eq!(send.pages(), 6000);
    }

    #[test]
    fn pieces_are_given_again_oldest_first_and_not_once_acknowledged() {
        let mut send = sender(3000, 3000);
        for _ in 0..3 {
            send.give(1000, 0);
        }
        send.reinject(2000, 3000, None);
        send.reinject(1500, 1600, Some(0));
        let Due::Again(piece) = send.due() else { panic!("{:?}", send.due()) };
        assert_eq!((piece.place, piece.len, piece.sent_on), (1000, 1000, 0), "the piece that holds the byte");
        send.give_again(1000, 3);
        let Due::Again(piece) = send.due() else { panic!("{:?}", send.due()) };
        assert_eq!((piece.place, piece.sent_on), (2000, 1));
        send.acknowledged(3000, 1000);
        assert_eq!(send.due(), Due::Nothing);
    }

    #[test]
    fn all_writes_go_again_that_one_segment_held() {
        let mut send = sender(100, 3000);
        send.give(100, 0);
        send.write(100, send.room(), false);
        send.extend(100, 0);
        send.acknowledged(50, 3000);
        send.reinject(0, 200, Some(0));
        assert_eq!(send.again_bytes(3000), 200);
    }

    #[test]
    fn the_end_goes_with_the_last_bytes_or_alone() {
        let mut send = sender(2000, 3000);
        send.give(1000, 0);
        send.close();
        assert_eq!(send.end(), None);
        assert!(send.give(1000, 0).end);
        assert!(!send.end_alone());
        assert!(send.acknowledged(2001, 0));
        assert!(send.delivered());

        let mut send = sender(2000, 3000);
        send.give(2000, 0);
        send.close();
        assert!(send.end_alone(), "the bytes had gone before");
    }
}
