//! Sending: what the application wrote, what the peer has, and what is given to which subflow.

mod again;
#[cfg(test)]
mod tests;

use crate::scheduler::FRAGMENT_BYTES;
use std::collections::VecDeque;

/// The sending half of a connection. Offsets count the application's bytes from 0.
#[derive(Debug)]
pub struct Send {
    /// Everything below this data offset was written by the application.
    written: u64,
    /// Where the pages begin that a writer fills.
    pages: u64,
    /// Where the last write began that found all before it given to subflows.
    apart: u64,
    /// Everything below this data offset was given to a subflow at least once.
    next: u64,
    /// Everything below this data offset is acknowledged by the peer (DATA_ACK).
    una: u64,
    /// The peer takes bytes below this data offset.
    edge: u64,
    /// The peer's window as last announced.
    window: u64,
    /// The widest that it was.
    most_window: u64,
    /// The window holds data back.
    bound: bool,
    /// Nothing more will be written.
    closed: bool,
    /// The end (DATA_FIN) was sent, with the last bytes or without.
    end_given: bool,
    /// The peer acknowledged the end.
    end_acknowledged: bool,
    /// Pieces given to subflows and not acknowledged, by data offset.
    outstanding: VecDeque<Outstanding>,
    /// Offsets of pieces to be given to another subflow.
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
    pub data_offset: u64,
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

    /// Bytes that the application has written.
    pub fn written(&self) -> u64 {
        self.written
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

    /// Everything below this data offset is acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Where the pages begin that a writer fills, and that hold all that is not acknowledged.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Everything below this data offset was given to a subflow.
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

    /// What the peer takes from `data_offset` on.
    pub fn window_from(&self, data_offset: u64) -> u64 {
        self.edge.saturating_sub(data_offset)
    }

    /// The widest window that the peer announced.
    pub fn most_window(&self) -> u64 {
        self.most_window
    }

    /// The peer's window as last announced.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The data offset of the end, once all before it was given to subflows.
    pub fn end(&self) -> Option<u64> {
        (self.closed && self.next == self.written).then_some(self.written)
    }

    /// The end, where the peer lacks it and no data under way tells it.
    pub fn end_to_tell(&self) -> Option<u64> {
        let with_data = || self.outstanding.back().is_some_and(|piece| piece.end);
        self.end().filter(|_| !self.end_acknowledged && !with_data())
    }

    /// Whether it must be sent now.
    pub fn end_alone(&self) -> bool {
        !self.end_given && self.end_to_tell().is_some()
    }

    /// The end was sent.
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

    /// The peer has everything below `data_offset`, its window is `window` from there. Says whether that is news.
    #[inline]
    pub fn acknowledged(&mut self, data_offset: u64, window: u64) -> bool {
        // As at the end that only receives.
        let is_known = (data_offset, window) == (self.una, self.window) && !self.closed;
        !is_known && self.take_acknowledgement(data_offset, window)
    }

    fn take_acknowledgement(&mut self, data_offset: u64, window: u64) -> bool {
        let sent = self.next + u64::from(self.end().is_some());
        if data_offset > sent {
            return false; // of what was never sent (RFC 9293 §3.10.7.4)
        }
        if data_offset >= self.una {
            // The right edge never goes back (RFC 8684 §3.3.5).
            self.edge = self.edge.max(data_offset + window);
            self.window = window;
            self.most_window = self.most_window.max(window);
        }
        let ended = self.closed && data_offset > self.written && !self.end_acknowledged;
        self.end_acknowledged |= ended;
        let data_offset = data_offset.min(self.written);
        if data_offset <= self.una {
            return ended;
        }
        self.una = data_offset;
        while self.outstanding.front().is_some_and(|piece| piece.data_offset + u64::from(piece.len) <= data_offset) {
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

    /// The next `len` bytes of new data go to `subflow`. Says whether the end goes with them.
    pub fn give(&mut self, len: u32, subflow: usize) -> Outstanding {
        let data_offset = self.next;
        self.next += u64::from(len);
        let end = self.end().is_some();
        self.end_given |= end;
        let apart = data_offset == self.apart;
        let piece = Outstanding { data_offset, len, end, sent_on: 1 << subflow, holder: subflow, again: false, apart };
        self.outstanding.push_back(piece);
        piece
    }

    /// The last piece, which `subflow` has not sent, grows by `len` bytes of new data.
    pub fn extend(&mut self, len: u32, subflow: usize) {
        if len > 0 {
            self.next += u64::from(len);
            let data_offset = self.next - u64::from(len);
            let apart = data_offset == self.apart;
            let piece = Outstanding {
                data_offset,
                len,
                end: false,
                sent_on: 1 << subflow,
                holder: subflow,
                again: false,
                apart,
            };
            // What was given to another subflow meanwhile stays as it was given.
            let grows = |last: &&mut Outstanding| {
                let follows = last.data_offset + u64::from(last.len) == piece.data_offset && !piece.apart;
                follows && last.sent_on == piece.sent_on && !last.again
            };
            match self.outstanding.back_mut().filter(grows) {
                Some(last) => last.len += len,
                None => self.outstanding.push_back(piece),
            }
        }
    }
}
