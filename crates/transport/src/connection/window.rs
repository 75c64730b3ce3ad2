//! The windows that subflows tell, as Linux reckons them (net/ipv4/tcp_output.c, tcp_select_window).

use super::{Connection, Mode};
use crate::subflow::Room;
use wire::Time;

/// The window that a subflow advertised last.
#[derive(Clone, Copy, Debug)]
pub struct Advertised {
    /// The window (tcp_sock.rcv_wnd).
    pub bytes: u64,
    /// The next byte of the subflow that was expected then (rcv_wup).
    pub at: u64,
}

impl Advertised {
    /// What is left of it (tcp_receive_window).
    fn left(&self, next: u64) -> u64 {
        (self.at + self.bytes).saturating_sub(next)
    }
}

impl Connection {
    /// The window that subflow `i` tells.
    pub(super) fn window(&mut self, now: Time, i: usize) -> u64 {
        let entry = &mut self.entries[i];
        if !entry.tcp.is_established() {
            return entry.advertised.bytes;
        }
        if self.own_windows && self.mode == Mode::Multipath {
            let (bytes, mss_bytes) = (self.receive.memory().window(), u64::from(entry.tcp.mss_bytes()));
            let (next, grown_bytes) = (entry.tcp.receive_next(), entry.tcp.window_grown_bytes());
            return entry.own_window.window(next, bytes, grown_bytes, mss_bytes);
        }
        let (next, unit) = (entry.tcp.receive_next(), 1 << entry.tcp.window_shift());
        // A window is never shrunk (RFC 9293 §3.8.6.2.1): TCP's own, and the connection's. What a subflow of MPTCP
        // announced is no promise for what others bring: captures of Linux 6.18 show that it says what memory is left for.
        let left = if self.mode == Mode::Multipath { 0 } else { entry.advertised.left(next).next_multiple_of(unit) };
        let bytes = self.chosen_window(now, i).max(left).min(u64::from(u16::MAX) * unit);
        if self.fills_windows() && self.entries[i].says_join() {
            // Without a DATA_ACK it is the subflow's own (net/mptcp/options.c, mptcp_write_options).
            self.entries[i].advertised = Advertised { bytes, at: next };
            return bytes;
        }
        // The connection's edge is that of the subflow that is ahead.
        let announced = self.receive.tell(bytes);
        // Subflows of Linux keep what they announced. The kernel of multipath-tcp.org asks what is left of the window
        // when it reads (mptcp_cleanup_rbuf, tcp_receive_window): that is near what there was memory for behind a hole.
        let kept = if self.fills_windows() { announced } else { bytes };
        self.receive.keep(kept);
        self.entries[i].advertised = Advertised { bytes: kept, at: next };
        announced
    }

    /// How wide a window subflow `i` may tell.
    pub(super) fn room_for(&self, i: usize) -> Room {
        // What a subflow of MPTCP brings is not its own any more.
        let (buffer_bytes, unread_bytes) = match self.mode {
            Mode::Plain => (self.receive.memory().bytes(), self.receive.readable()),
            _ => (u64::MAX, 0),
        };
        Room { buffer_bytes, unread_bytes, advertised_bytes: self.entries[i].advertised.bytes }
    }

    /// The ACK of a second segment leaves at once where the window is as wide as it was; otherwise when the application has
    /// read (net/ipv4/tcp_input.c, __tcp_ack_snd_check; subflows have no sk_rcvlowat: net/mptcp/sockopt.c,
    /// mptcp_sockopt_sync_locked).
    pub(super) fn read_before_ack(&mut self, now: Time, i: usize) {
        if self.fills_windows() && self.chosen_window(now, i) < self.entries[i].advertised.bytes {
            self.receive.read_first();
        }
    }

    /// __tcp_select_window, with the connection's memory (mptcp_space).
    #[inline(always)] // every packet passes here
    fn chosen_window(&self, now: Time, i: usize) -> u64 {
        let tcp = &self.entries[i].tcp;
        let all = self.receive.memory().window();
        let full = all.min(tcp.memory().window());
        let segment_bytes = tcp.segment_bytes().min(full);
        let mut free = self.receive.room(now);
        if self.mode == Mode::Plain {
            free = free.saturating_sub(tcp.out_of_order_bytes());
        }
        let unit = 1 << tcp.window_shift();
        if free < full / 2 {
            free -= free % unit;
            if free < all / 16 || free < segment_bytes {
                return 0;
            }
        }
        free = free.min(tcp.window_grown_bytes());
        if unit > 1 {
            return free.next_multiple_of(unit);
        }
        // Without a scale in whole segments (RFC 9293 §3.8.6.2.2).
        let last = self.entries[i].advertised.bytes;
        if last + segment_bytes <= free || last > free {
            free - free % segment_bytes.max(1)
        } else if segment_bytes == full && free > last + full / 2 {
            free
        } else {
            last
        }
    }

    /// The application has read: memory grows with what a round trip brings, and the peer hears of a window that has at
    /// least doubled (net/mptcp/protocol.c, mptcp_cleanup_rbuf; net/ipv4/tcp.c, __tcp_cleanup_rbuf).
    pub(super) fn was_read(&mut self, now: Time) {
        self.tune(now);
        if self.has_own_windows() {
            return self.let_go();
        }
        if self.receive.finished() {
            return;
        }
        let announced = self.announced_window(now);
        self.hurry_short();
        if self.receive.room(Time::MAX) < 2 * announced {
            return;
        }
        for i in 0..self.entries.len() {
            let entry = &self.entries[i];
            if entry.is_over() || !entry.tcp.is_established() {
                continue;
            }
            let left = entry.advertised.left(entry.tcp.receive_next());
            let last = if entry.tcp.owes_ack() { announced.min(left) } else { left };
            let window = self.chosen_window(Time::MAX, i);
            if 2 * last <= entry.tcp.memory().window() && window > 0 && window >= 2 * last {
                self.entries[i].tcp.acknowledge();
                self.receive.read_first();
            }
        }
    }

    /// The window that was announced last, ACKs included that are due before the reader has read.
    fn announced_window(&self, now: Time) -> u64 {
        let due = (0..self.entries.len()).filter(|&i| self.entries[i].tcp.owes_ack() && !self.entries[i].is_over());
        let mut windows = due.map(|i| self.receive.would_tell(self.chosen_window(now, i)));
        windows.next_back().unwrap_or(self.receive.announced())
    }

    /// Once all is read, what waits for a second segment after a short one is acknowledged (net/ipv4/tcp.c,
    /// __tcp_cleanup_rbuf; net/mptcp/protocol.c, mptcp_subflow_could_cleanup).
    fn hurry_short(&mut self) {
        if self.receive.readable() + self.receive.out_of_order() > 0 {
            return;
        }
        for entry in self.entries.iter_mut().filter(|entry| !entry.is_over() && entry.tcp.ack_waits_in_vain()) {
            entry.tcp.acknowledge();
            self.receive.read_first();
        }
    }

    /// Lets memory grow, once a round trip: the connection's, and that of its subflows with it (net/mptcp/protocol.c,
    /// mptcp_rcv_space_adjust).
    fn tune(&mut self, now: Time) {
        if self.mode != Mode::Plain {
            if self.receive.is_in_round(now) {
                return;
            }
            // Only now the connection sees what segments occupy, and of which subflows that is not known yet.
            self.share_memory();
        }
        let open = self.entries.iter().filter(|entry| !entry.is_over());
        let rtt_ns = open.filter_map(|entry| entry.receive_rtt.ns()).max();
        let Some(read) = self.receive.read_in_round(now, rtt_ns) else { return };
        if self.mode == Mode::Plain {
            return self.entries[self.fallback.subflow()].tcp.grow_memory(read);
        }
        if self.receive.memory_mut().grow(read, 0) {
            // What is still joining begins with a buffer as a connection's first, and keeps it where the connection's has reached
            // its most (mptcp_rcv_space_adjust: rcvq_space.space is 0 until tcp_init_transfer).
            for entry in self.entries.iter_mut().filter(|entry| entry.tcp.is_established()) {
                entry.tcp.grow_memory(read);
            }
        }
    }

    /// What the peer's segments occupy was seen by subflows.
    pub(super) fn share_memory(&mut self) {
        if self.mode == Mode::Plain {
            *self.receive.memory_mut() = *self.entries[self.fallback.subflow()].tcp.memory();
        } else {
            let open = self.entries.iter().filter(|entry| !entry.is_over());
            self.receive.memory_mut().share_as(open.map(|entry| *entry.tcp.memory()));
        }
    }
}
