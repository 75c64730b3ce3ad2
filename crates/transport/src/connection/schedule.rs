//! Which subflow gets what, and what is given again.

use super::send::Due;
use super::{Connection, Entry, Mode, Retransmission, each_of};
use crate::congestion::Window;
use crate::scheduler::{BURST_BYTES, Chunk, PathView};
use crate::subflow::Piece;
use wire::Time;

impl Connection {
    /// Gives what is due to subflows; says whether one got something.
    pub(super) fn schedule(&mut self, now: Time) -> bool {
        self.scheduling.begin();
        if self.over.is_some() {
            return false;
        }
        let due = self.send.due();
        match due {
            Due::Nothing if !self.scheduling.copies() => return false,
            Due::Nothing => {}
            _ if self.is_timed() => self.be_patient(now, matches!(due, Due::Blocked)),
            _ => {}
        }
        if self.scheduling.copies() && !matches!(due, Due::Again(_)) && self.copy(now) {
            return true;
        }
        let peer_window_bytes = self.send.open_window();
        let chunk = match due {
            Due::Nothing => return false,
            Due::Blocked => return self.blocked(now),
            Due::Again(piece) => {
                // Upstream Linux goes through all that is to go again as through new data.
                let bytes =
                    if self.fills_windows() { self.send.again_bytes(BURST_BYTES) } else { u64::from(piece.len) };
                Chunk {
                    in_pages: piece.data_offset - self.send.pages(),
                    bytes,
                    window_bytes: bytes,
                    peer_window_bytes,
                    reinjection: true,
                    sent_on: piece.sent_on,
                }
            }
            Due::New { bytes, window_bytes } => {
                let in_pages = self.send.next() - self.send.pages();
                Chunk { in_pages, bytes, window_bytes, peer_window_bytes, reinjection: false, sent_on: 0 }
            }
        };
        if !self.scheduling.queues_ahead() && !self.has_room() {
            return false;
        }
        self.look();
        let Some((subflows, bytes)) = self.scheduling.choose(now, &chunk) else { return false };
        let Some(first) = each_of(subflows).next() else { return false };
        if each_of(subflows).any(|i| self.with(i, |entry, control| entry.tcp.resume(now, control))) {
            // There is less room than the scheduler saw.
            return true;
        }
        match due {
            Due::Again(_) => {
                self.push_waiting_again(subflows, bytes);
                self.pushed(now);
                true
            }
            // A window with room for less than a segment is as good as full.
            _ => {
                let pushed = self.push_new(first, subflows, bytes, chunk.bytes);
                if pushed {
                    self.pushed(now);
                }
                pushed || self.blocked(now)
            }
        }
    }

    /// Gives `bytes` of new data to `subflows`, in segments as the first of them has them. Segments are full but for the
    /// last that there is to send (RFC 9293 §3.8.6.2.1), unless nothing else is on its way; upstream Linux fills the peer's
    /// window to the last byte, and what is short grows as long as it waits (mptcp_sendmsg_frag).
    fn push_new(&mut self, first: usize, subflows: u64, bytes: u64, waiting: u64) -> bool {
        let mss_bytes = u64::from(self.entries[first].tcp.mss_bytes());
        let (mut left, mut pushed) = (bytes, false);
        let fills = self.fills_windows();
        if fills {
            let more = self.entries[first].tcp.extend(self.send.next(), left);
            self.send.extend(more as u32, first);
            self.entries[first].scheduled_bytes += more;
            (left, pushed) = (left - more, more > 0);
        }
        while left > 0 {
            let len = left.min(mss_bytes);
            let short = len < mss_bytes && bytes - left + len < waiting;
            if short && !fills && (pushed || self.send.una() < self.send.next()) {
                break;
            }
            let piece = self.send.give(len as u32, first);
            let data_fin = piece.end && self.is_multipath();
            let entry = &mut self.entries[first];
            entry.tcp.share_window(self.send.window_from(piece.data_offset));
            entry.tcp.push(Piece { data_offset: piece.data_offset, len: piece.len, data_fin, push: false });
            entry.scheduled_bytes += len;
            for i in each_of(subflows & !(1 << first)) {
                self.push_again(i, &piece);
            }
            left -= len;
            pushed = true;
        }
        if self.scheduling.queues_ahead() || self.send.waiting() == 0 {
            self.entries[first].tcp.end_write();
        }
        if fills {
            self.with(first, |entry, control| entry.tcp.filled(control));
        }
        pushed
    }

    /// Gives `bytes` of what is to go again to `subflows`, in whole pieces.
    fn push_waiting_again(&mut self, subflows: u64, bytes: u64) {
        let mut pushed = 0;
        while let Due::Again(piece) = self.send.due()
            && pushed < bytes
        {
            for i in each_of(subflows) {
                self.push_again(i, &piece);
            }
            pushed += u64::from(piece.len);
        }
    }

    /// Whether segments may be short for the peer's window, as in upstream Linux.
    pub(super) fn fills_windows(&self) -> bool {
        self.scheduling.queues_ahead() && self.is_multipath()
    }

    /// Gives a piece that was given before to subflow `i` too, in segments as that has them. Upstream Linux fills the last that
    /// waits with it, as with new data (mptcp_sendmsg_frag): messages that left one by one come again many to a segment.
    #[inline(never)] // seldom
    pub(super) fn push_again(&mut self, i: usize, piece: &super::send::Outstanding) {
        let fills = self.fills_windows() && !piece.end;
        let entry = &mut self.entries[i];
        entry.tcp.share_window(self.send.window_from(piece.data_offset));
        let mss_bytes = entry.tcp.mss_bytes();
        let mut at = if fills { entry.tcp.extend(piece.data_offset, u64::from(piece.len)) as u32 } else { 0 };
        while at < piece.len {
            let len = (piece.len - at).min(mss_bytes);
            let data_fin = piece.end && at + len == piece.len;
            entry.tcp.push(Piece { data_offset: piece.data_offset + u64::from(at), len, data_fin, push: false });
            at += len;
        }
        entry.tcp.end_write();
        entry.scheduled_bytes += u64::from(piece.len);
        self.send.give_again(piece.data_offset, i);
    }

    /// Gives a subflow with room the first piece on its way that it was not given, if the scheduler wants that.
    #[inline(never)] // few schedulers do
    fn copy(&mut self, now: Time) -> bool {
        if !self.is_multipath() || !self.has_room() {
            return false;
        }
        self.look();
        for view in 0..self.scheduling.views().len() {
            let path = &self.scheduling.views()[view];
            let i = path.subflow;
            if path.free_bytes() == 0 {
                continue;
            }
            let Some(piece) = self.send.lacking(self.entries[i].copied, i) else {
                self.entries[i].copied = self.send.next();
                continue;
            };
            self.entries[i].copied = piece.data_offset;
            let bytes = u64::from(piece.len);
            let peer_window_bytes = self.send.open_window();
            let chunk = Chunk {
                in_pages: piece.data_offset - self.send.pages(),
                bytes,
                window_bytes: bytes,
                peer_window_bytes,
                reinjection: false,
                sent_on: piece.sent_on,
            };
            if let Some(subflows) = self.scheduling.copy(now, &chunk) {
                for i in each_of(subflows) {
                    self.push_again(i, &piece);
                }
                return true;
            }
        }
        false
    }

    /// The peer's window is full. Either a free subflow repairs what blocks it, or, when nothing is on its way that an
    /// answer could come to, the window is probed.
    #[inline(never)] // seldom
    fn blocked(&mut self, now: Time) -> bool {
        if let Some(head) = self.send.head().copied().filter(|_| self.is_multipath()) {
            self.look();
            let bytes = u64::from(head.len);
            let peer_window_bytes = self.send.open_window();
            let chunk = Chunk {
                in_pages: head.data_offset - self.send.pages(),
                bytes,
                window_bytes: bytes,
                peer_window_bytes,
                reinjection: true,
                sent_on: head.sent_on,
            };
            if self.has_room() {
                self.scheduling.blocked();
            }
            if let Some(subflows) = self.scheduling.unblock(now, &chunk, &mut self.windows) {
                for i in each_of(subflows) {
                    self.push_again(i, &head);
                }
                return true;
            }
        }
        if self.send.una() == self.send.next()
            && let Some(i) = self.best()
        {
            self.probing |= 1 << i;
            self.entries[i].tcp.probe(now, true);
        }
        false
    }

    /// What subflow `i` was given and the peer lacks goes to others. With `gone` it never comes back.
    pub(super) fn reinject(&mut self, i: usize, gone: bool) {
        if !self.is_multipath() || !(gone || self.others_carry(i)) {
            return;
        }
        if self.retransmission.is_by_timer() {
            if self.entries[i].scheduled_bytes > 0 {
                self.send.reinject_outstanding(gone.then_some(i));
            }
            return;
        }
        let una = self.send.una();
        let forget = gone.then_some(i);
        let entry = &self.entries[i];
        for piece in entry.tcp.unacknowledged().chain(entry.tcp.queued()) {
            if piece.end() > una {
                self.send.reinject(piece.data_offset, piece.end(), forget);
            }
        }
    }

    /// Whether a subflow other than `i` may carry data.
    pub(super) fn others_carry(&self, i: usize) -> bool {
        self.entries.iter().enumerate().any(|(other, entry)| other != i && entry.carries_data())
    }

    /// The subflow for what is not data: one that has its address and answers, with the least round-trip time.
    pub(super) fn best(&self) -> Option<usize> {
        let order = |&i: &usize| {
            let entry = &self.entries[i];
            (entry.nic.is_none(), entry.timeouts, entry.tcp.srtt_ns().unwrap_or(i64::MAX))
        };
        (0..self.entries.len()).filter(|&i| self.entries[i].carries_data()).min_by_key(order)
    }

    /// Whether a congestion window has room for a segment: cheaper than to look at all that a scheduler sees.
    fn has_room(&self) -> bool {
        let mut pairs = self.entries.iter().zip(&self.windows);
        pairs.any(|(entry, window)| entry.tcp.free_packets(window) > 0 && entry.carries_data())
    }

    fn look(&mut self) {
        let Connection { entries, windows, scheduling, retransmission, mode, own_windows, .. } = self;
        let pairs = entries.iter_mut().zip(windows.iter()).enumerate();
        scheduling.look(pairs.filter(|(_, (entry, _))| entry.carries_data()).map(|(i, (entry, window))| {
            if entry.tcp.send_buffer_bytes() == 0 {
                // It joined when all had been written (net/ipv4/tcp_input.c, tcp_init_buffer_space).
                entry.tcp.expand_send_buffer(window);
            }
            let mut view = view(i, entry, window, *mode, retransmission);
            if *own_windows {
                // To a scheduler one window is as good as the other.
                let room_packets = (entry.tcp.window_room_bytes() / u64::from(view.mss_bytes)) as u32;
                view.cwnd_packets = view.cwnd_packets.min(view.in_flight_packets.saturating_add(room_packets));
            }
            view
        }));
    }

    /// What the scheduler sees of subflow `i`.
    pub(super) fn view(&self, i: usize) -> PathView {
        view(i, &self.entries[i], &self.windows[i], self.mode, &self.retransmission)
    }
}

#[inline(always)] // written where it goes rather than copied there
fn view(i: usize, entry: &Entry, window: &Window, mode: Mode, retransmission: &Retransmission) -> PathView {
    let of_subflow = entry.tcp.view(i, window);
    PathView {
        // What was written to plain TCP has its memory.
        send_buffer_bytes: if mode == Mode::Plain { u64::MAX } else { of_subflow.send_buffer_bytes },
        joined: entry.joined,
        backup: entry.backup || entry.peer_backup,
        stale: retransmission.is_stale(&entry.progress, entry.timeouts),
        ..of_subflow
    }
}
