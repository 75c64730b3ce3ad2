//! Opening a subflow (RFC 9293 §3.5, §3.10.7.3).

use super::header::TIMESTAMPS_BYTES;
use super::state::{Due, State, Subflow, whole};
use super::{Control, Received};
use crate::congestion::Window;
use crate::recovery::pacing;
use crate::slow_start::Watch;
use wire::{Flags, Tcp, TcpOption, Time};

/// What a peer takes that does not say (RFC 9293 §3.7.1).
const DEFAULT_MSS_V4_BYTES: u32 = 536;
const DEFAULT_MSS_V6_BYTES: u32 = 1220;

/// The SYN, or the SYN/ACK, of this end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Syn {
    transmissions: u32,
    /// The first time.
    sent: Time,
    /// Bytes that it carries: they come before offset 1.
    bytes: u32,
}

impl Syn {
    pub(super) fn unsent(now: Time) -> Syn {
        Syn { transmissions: 0, sent: now, bytes: 0 }
    }

    /// It leaves; says whether it is sent again.
    pub(super) fn send(&mut self, now: Time) -> bool {
        let retransmission = self.transmissions > 0;
        if !retransmission {
            self.sent = now;
        }
        self.transmissions += 1;
        retransmission
    }

    pub(super) fn carry(&mut self, bytes: u32) {
        self.bytes = bytes;
    }

    /// How often it was sent.
    pub(super) fn transmissions(&self) -> u32 {
        self.transmissions
    }

    /// Bytes that it carries.
    pub(super) fn bytes(&self) -> u32 {
        self.bytes
    }
}

impl Subflow {
    /// The peer's SYN, with an ACK or without: numbers and options.
    pub(super) fn agree(&mut self, now: Time, syn: &Tcp) {
        self.inbound.opened(syn.seq);
        self.agree_on_ecn(syn.flags);
        let mut mss = if self.remote.is_ipv4() { DEFAULT_MSS_V4_BYTES } else { DEFAULT_MSS_V6_BYTES };
        self.sack = false;
        let (mut scale, mut timestamp) = (None, None);
        for option in syn.options.iter().flatten() {
            match option {
                TcpOption::MaximumSegmentSize(bytes) => mss = u32::from(bytes),
                TcpOption::SackPermitted => self.sack = self.settings.sack,
                TcpOption::WindowScale(shift) if self.settings.window_scaling => scale = Some(shift),
                TcpOption::Timestamps { value, .. } if self.settings.timestamps => timestamp = Some(value),
                _ => {}
            }
        }
        self.clock.agree(now, timestamp);
        self.scaling.agree(scale);
        self.inbound.most_segment_bytes -= if self.clock.is_used() { TIMESTAMPS_BYTES } else { 0 };
        self.segment_size.agree(mss, self.clock.is_used());
    }

    /// A segment came before the peer's SYN (RFC 9293 §3.10.7.3).
    #[cold]
    #[inline(never)]
    pub(super) fn receive_first(&mut self, now: Time, tcp: &Tcp, control: &mut Control) -> Received {
        let has_ack = tcp.flags.has(Flags::ACK);
        if has_ack && (self.next == 0 || tcp.ack != self.isn.wrapping_add(1)) {
            if !tcp.flags.has(Flags::RST) {
                self.refuse(tcp.ack);
            }
            return Received::default();
        }
        if tcp.flags.has(Flags::RST) {
            if !has_ack {
                return Received::default();
            }
            self.shut();
            return Received { acceptable: true, reset: true, ..Received::default() };
        }
        if !tcp.flags.has(Flags::SYN) {
            return Received::default();
        }
        self.agree(now, tcp);
        self.send_window.update(0, true, u64::from(tcp.window));
        if !has_ack {
            // Simultaneous open (RFC 9293 §3.5, figure 7).
            self.state = State::SynReceived;
            self.due.set(Due::SYN);
            return Received { acceptable: true, ..Received::default() };
        }
        let echo = tcp.options.brief().timestamps.map(|(_, echo)| echo);
        self.establish(now, echo, control);
        self.due.set(Due::ACK);
        Received {
            acceptable: true,
            established: true,
            in_order: 1..1,
            acked: self.acked,
            window_bytes: u64::from(tcp.window),
            ..Received::default()
        }
    }

    /// The handshake is over.
    #[cold]
    #[inline(never)]
    pub(super) fn establish(&mut self, now: Time, echo: Option<u32>, control: &mut Control) {
        self.state = State::Established;
        self.acked = 1;
        self.timeouts.end();
        self.timers.disarm();
        self.due.clear(Due::SYN);
        let first = (self.syn.transmissions <= 1).then(|| now - self.syn.sent);
        if let Some(rtt_ns) = first.or_else(|| self.clock.since_ns(now, echo?)) {
            self.rto.least(now, rtt_ns);
            self.rto.sample(rtt_ns, 1, 1);
        } else {
            self.rto.after_lost_syn();
        }
        if let Some(idle_ns) = self.settings.keep_alive_idle_ns {
            self.timers.set_keep_alive(now + idle_ns);
        }
        (self.last_heard, self.last_sent) = (now, now);
        self.usage.set(now);
        // RFC 6928 §2: a SYN that was lost once may have been late only.
        let lost = self.syn.transmissions > 2;
        let initial = if lost { 1 } else { self.settings.initial_window_packets };
        control.windows[control.index] = Window {
            cwnd_packets: f64::from(whole(f64::from(initial))),
            ssthresh_packets: self.settings.initial_ssthresh_packets.map_or(f64::INFINITY, f64::from),
            srtt_ns: self.srtt_ns(),
            min_rtt_ns: self.min_rtt_ns(),
            mss_bytes: self.mss_bytes(),
            recovering: false,
            usable: true,
        };
        self.pacing.set_rate(pacing::bytes_per_second(&control.windows[control.index], 0));
        control.congestion.joined(control.index, now);
        let kind = self.settings.slow_start;
        if control.congestion.leave_slow_start(kind, self.settings.pacing) {
            self.slow_start = Watch::new(kind, self.settings.pacing);
        }
        if let Some(controller) = control.congestion.by_rate() {
            let random = u64::from(self.isn) << 32 | u64::from(self.inbound.isn);
            let rate = controller.started(control.index, &control.windows[control.index], now, random);
            self.pacing.set_rate(rate);
            self.delivery = Some(Box::default());
        }
    }

    /// Answers a segment that fits nothing with a reset where it expects the next byte.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(&mut self, ack: u32) {
        self.refusal = u64::from(ack.wrapping_sub(self.isn));
        self.due.set(Due::REFUSAL);
    }
}
