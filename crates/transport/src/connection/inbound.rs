//! A segment that came in.

use super::mappings::Next;
use super::{Connection, Mode, Signals, each_of};
use crate::context::Context;
use crate::endpoint::Event;
use crate::subflow::Received;
use wire::{Brief, Packet, Tcp, Time};

impl Connection {
    /// A segment of subflow `i` came in.
    pub fn handle(&mut self, now: Time, i: usize, tcp: &Tcp, packet: &Packet, ctx: &mut Context) {
        let mut said = Brief::default();
        said.read(&tcp.options);
        let signals = Signals::of(&said, &tcp.options);
        if !self.admits(i, tcp, &signals) {
            return self.settle(now, ctx);
        }
        let len = packet.frame.payload.len;
        let room = self.room_for(i);
        let received = self.with(i, |entry, control| {
            entry.tcp.comes_as(packet.frame.ip.ecn());
            let received = entry.tcp.receive(now, tcp, &said, len, room, control);
            if received.acceptable {
                if entry.timeouts > 0 && entry.tcp.timeouts() == 0 {
                    entry.timeouts = 0; // it answers again
                }
                entry.progress.heard(now);
                entry.heard = true;
            }
            received
        });
        if !received.acceptable {
            return;
        }
        if received.reset {
            return self.was_reset(now, i, &signals, ctx);
        }
        if received.established {
            self.subflow_established(now, i, tcp, &signals, &received, ctx);
            if self.entries[i].is_over() {
                return self.settle(now, ctx); // refused
            }
        }
        if self.mode == Mode::Multipath {
            self.take_signals(now, i, &signals, &received, len, ctx);
        }
        let brings = len > 0 && !self.entries[i].is_over();
        if brings {
            self.note_payload(i, tcp, packet, &signals);
        }
        self.take_acknowledgement(now, i, &signals, &received);
        if let Some(fail) = signals.fail().filter(|_| self.is_multipath()) {
            self.peer_failed(i, fail.data_seq);
        }
        if len > 0 {
            self.measure(now, i, len, !received.in_order.is_empty(), &signals);
        }
        let before = self.receive.next();
        if brings && !received.in_order.is_empty() {
            self.deliver(i, received.in_order.end, ctx);
        }
        if len > 0 {
            if self.mode == Mode::Plain {
                self.share_memory();
            }
            self.receive.came(now, self.receive.next() - before);
            if received.waits_for_reader {
                self.read_before_ack(now, i);
            }
        }
        if received.finished || signals.dss().is_some_and(|dss| dss.data_fin) {
            self.take_end(i, &signals, &received);
        }
        self.settle(now, ctx);
    }

    /// A segment of subflow `i` that begins at `seq` was too big for the way.
    #[cold]
    #[inline(never)]
    pub fn too_big(&mut self, i: usize, seq: u32, mtu_bytes: u32) {
        self.with(i, |entry, control| entry.tcp.too_big(seq, mtu_bytes, control));
    }

    /// Memory is left again for what subflows hold back (net/mptcp/protocol.c, __mptcp_move_skbs).
    pub(super) fn take_held_back(&mut self, ctx: &mut Context) {
        for i in 0..self.entries.len() {
            let entry = &self.entries[i];
            if entry.delivered < entry.arrived && !entry.is_over() {
                self.deliver(i, entry.arrived, ctx);
            }
        }
    }

    /// Brings the bytes of subflow `i` below `end`, which are in order there, to their offsets. Upstream Linux leaves
    /// them to the subflow while memory is full (__mptcp_move_skbs_from_subflow; before 6.15 it asked after each segment,
    /// to the same end).
    fn deliver(&mut self, i: usize, end: u64, ctx: &mut Context) {
        let takes_memory = self.fills_windows() && !self.own_windows;
        self.entries[i].arrived = end;
        let mut news = false;
        loop {
            let entry = &mut self.entries[i];
            if entry.delivered >= end || self.receive.is_full() {
                break;
            }
            match entry.mappings.next(entry.delivered..end) {
                Next::Data { data_offset, len } => {
                    entry.delivered += len;
                    let (first, after) = (self.receive.next(), self.receive.clip(data_offset + len));
                    if self.own_windows && self.mode == Mode::Multipath && after > first.max(data_offset) {
                        entry.own_window.hold(data_offset..after);
                    }
                    news |= match takes_memory {
                        true => self.receive.take_in(data_offset, len),
                        false => self.receive.deliver(data_offset, len),
                    };
                }
                Next::Incomplete => break,
                Next::Void { until } => entry.delivered = until,
                _ if self.fallback.is_discarding() => entry.delivered = end,
                Next::Unmapped => self.stripped(i),
                Next::Broken { data_offset } => self.broken(i, data_offset),
            }
            if self.entries[i].is_over() {
                break;
            }
        }
        if news && self.reported.readable() {
            ctx.tell(Event::Readable);
        }
    }

    /// What the peer has by now.
    fn take_acknowledgement(&mut self, now: Time, i: usize, signals: &Signals, received: &Received) {
        let data_offset = match self.mode {
            Mode::Opening => return,
            Mode::Plain => match self.fallback.data_offset(received.acked) {
                Some(data_offset) => data_offset,
                None => return,
            },
            Mode::Multipath => {
                let entry = &mut self.entries[i];
                let news = received.acked > entry.acked;
                entry.acked = entry.acked.max(received.acked);
                // Such ACKs have a DATA_ACK, as have answers to probes.
                let tells = news || self.probing > 0 || received.finished;
                if tells && !signals.any() && !self.is_done() {
                    self.stripped(i);
                    if self.mode == Mode::Plain {
                        self.take_acknowledgement(now, i, signals, received);
                    }
                    return;
                }
                let number = signals.dss().and_then(|dss| dss.data_ack);
                match number.and_then(|number| self.agreed.sending().data_offset(number, self.send.una())) {
                    Some(data_offset) => data_offset,
                    None => return,
                }
            }
        };
        if self.has_own_windows() {
            self.entries[i].tcp.allow(received.acked + received.window_bytes);
        }
        // Upstream Linux goes by the window of the subflow's TCP, which may be older than the DATA_ACK: then it sends
        // beyond what the peer announced (net/mptcp/options.c, ack_update_msk).
        let window_bytes = if self.fills_windows() { received.kept_window_bytes } else { received.window_bytes };
        if self.send.acknowledged(data_offset, window_bytes) {
            self.timers.stall = Time::MAX;
            self.progressed(now);
        }
        if self.send.window() > 0 && self.probing > 0 {
            for i in each_of(std::mem::take(&mut self.probing)) {
                self.entries[i].tcp.probe(now, false);
            }
        }
    }

    /// The round-trip time of data that comes in, if `grew` some of it in order: where full segments echo a timestamp, and from window
    /// to window.
    fn measure(&mut self, now: Time, i: usize, len: u32, grew: bool, signals: &Signals) {
        let (entry, echo) = (&mut self.entries[i], signals.echo());
        let counts = entry.receive_rtt.is_new(echo) && u64::from(len) >= entry.tcp.segment_bytes();
        if let Some(rtt_ns) = echo.filter(|_| counts).and_then(|echo| entry.tcp.echoed_ns(now, echo)) {
            entry.receive_rtt.echoed(rtt_ns);
        }
        if grew {
            entry.receive_rtt.came(now, entry.tcp.receive_next(), entry.advertised.bytes);
        }
    }
}
