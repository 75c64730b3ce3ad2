//! What a subflow is and what can be asked of it.

use super::clock::Clock;
use super::deferral::Unit;
use super::ecn::Ecn;
use super::expire::{Probes, Timeouts};
use super::handshake::Syn;
use super::inbound::Inbound;
use super::phase::LossRecovery;
use super::queue::Queue;
use super::scaling::Scaling;
use super::segment_size::{self, SegmentSize};
use super::send_window::SendWindow;
use super::timers::Timers;
use super::{Control, Piece};
use crate::config;
use crate::recovery::delivery::Delivery;
use crate::recovery::newreno::NewReno;
use crate::recovery::pacing::Pacing;
use crate::recovery::prr::Prr;
use crate::recovery::rack::Rack;
use crate::recovery::rto::Rto;
use crate::recovery::scoreboard::Scoreboard;
use crate::recovery::tlp::Tlp;
use crate::recovery::undo::Undo;
use crate::recovery::usage::Usage;
use crate::recovery::wheel::Ticks;
use crate::slow_start::Watch;
use std::net::SocketAddr;
use wire::{Tcp, Time};

/// State of a connection (RFC 9293 §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Sent a SYN.
    SynSent,
    /// Sent and received a SYN.
    SynReceived,
    /// Open both ways.
    Established,
    /// Sent a FIN.
    FinWait1,
    /// Had it acknowledged.
    FinWait2,
    /// Received a FIN.
    CloseWait,
    /// Both sent a FIN, neither knows the other's was sent after its own arrived.
    Closing,
    /// Received a FIN, then sent one.
    LastAck,
    /// Both FINs are acknowledged; stray segments may come.
    TimeWait,
    /// Over.
    Closed,
}

/// What the next polls are to send, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due(u8);

impl Due {
    /// Abort.
    pub(super) const RESET: Due = Due(1);
    /// Refuse a segment, at [`Subflow::refusal`].
    pub(super) const REFUSAL: Due = Due(2);
    /// SYN or SYN/ACK.
    pub(super) const SYN: Due = Due(4);
    /// Tail loss probe.
    pub(super) const TAIL: Due = Due(8);
    /// FIN, once the queue is empty.
    pub(super) const FIN: Due = Due(16);
    /// ACK.
    pub(super) const ACK: Due = Due(32);
    /// Keep-alive or zero-window probe.
    pub(super) const PROBE: Due = Due(64);
    /// The first lost segment, whatever the window says.
    pub(super) const FAST: Due = Due(128);

    #[inline]
    pub(super) fn has(self, other: Due) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub(super) fn set(&mut self, other: Due) {
        self.0 |= other.0;
    }

    #[inline]
    pub(super) fn clear(&mut self, other: Due) {
        self.0 &= !other.0;
    }

    /// Whether it was due; it is no more.
    #[inline]
    pub(super) fn take(&mut self, other: Due) -> bool {
        let due = self.has(other);
        if due {
            self.clear(other);
        }
        due
    }
}

/// A TCP connection.
#[derive(Debug)]
pub struct Subflow {
    pub(super) settings: config::Tcp,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    pub(super) state: State,
    pub(super) due: Due,
    pub(super) timers: Timers,
    /// When timers of its host end.
    pub(super) ticks: Ticks,

    // What the handshake agreed on.
    pub(super) sack: bool,
    pub(super) scaling: Scaling,
    pub(super) ecn: Ecn,
    pub(super) segment_size: SegmentSize,

    // The sending half.
    pub(super) isn: u32,
    pub(super) syn: Syn,
    pub(super) acked: u64,
    pub(super) next: u64,
    pub(super) queue: Queue,
    /// Memory that it may hold for what is sent: sk_sndbuf.
    pub(super) send_buffer_bytes: u64,
    pub(super) flight: Scoreboard,
    pub(super) fin_at: Option<u64>,
    /// Where the last segment ends that was not full: snd_sml.
    pub(super) short_until: u64,
    pub(super) send_window: SendWindow,
    pub(super) unit: Unit,
    /// Offset of a reset that refuses a segment.
    pub(super) refusal: u64,

    // Repair.
    pub(super) recovery: LossRecovery,
    pub(super) rto: Rto,
    pub(super) timeouts: Timeouts,
    pub(super) retransmitted: u64,
    pub(super) newreno: NewReno,
    pub(super) rack: Rack,
    pub(super) tlp: Tlp,
    pub(super) prr: Prr,
    pub(super) undo: Undo,
    /// Segments that the peer reported as duplicates.
    pub(super) duplicates: u64,
    pub(super) pacing: Pacing,
    /// Kept for a controller by rate.
    pub(super) delivery: Option<Box<Delivery>>,
    pub(super) usage: Usage,
    /// After so long an idle time the window began anew, so many times; until something is sent.
    pub(super) restarts: Option<(i64, u32)>,
    pub(super) slow_start: Watch,

    // The receiving half.
    pub(super) inbound: Inbound,
    pub(super) clock: Clock,
    /// When a segment without payload that was not acceptable was last answered.
    pub(super) last_answer: Time,
    pub(super) last_heard: Time,
    /// When data was last sent, or found to be about to be after a pause.
    pub(super) last_sent: Time,
    /// Whether the ACK that is due is one that neither a segment nor a timer of this subflow asked for.
    pub(super) is_unasked: bool,
    pub(super) probes: Probes,
    pub(super) orphaned: bool,
}

impl Subflow {
    /// Opens a subflow; `isn` is its initial sequence number, `mtu_bytes` what packets of its interface may hold.
    pub fn connect(
        now: Time,
        settings: &config::Tcp,
        local: SocketAddr,
        remote: SocketAddr,
        isn: u32,
        mtu_bytes: u32,
    ) -> Subflow {
        let offered_mss_bytes = Subflow::offered_mss_bytes(settings, remote, mtu_bytes);
        Subflow {
            settings: settings.clone(),
            local,
            remote,
            state: State::SynSent,
            due: Due::SYN,
            timers: Timers::NONE,
            ticks: Ticks::new(0, settings.timer_wheel),
            sack: false,
            scaling: Scaling::new(settings.max_receive_buffer_bytes.max(settings.receive_buffer_bytes)),
            ecn: Ecn::default(),
            segment_size: SegmentSize::new(offered_mss_bytes),
            isn,
            syn: Syn::unsent(now),
            acked: 0,
            next: 0,
            queue: Queue::default(),
            send_buffer_bytes: if settings.send_buffer_tuning { 0 } else { settings.send_buffer_bytes },
            flight: Scoreboard::default(),
            fin_at: None,
            short_until: 0,
            send_window: SendWindow::UNKNOWN,
            unit: Unit::default(),
            refusal: 0,
            recovery: LossRecovery::default(),
            rto: Rto::new(settings),
            timeouts: Timeouts::none(now),
            retransmitted: 0,
            newreno: NewReno::default(),
            rack: Rack::default(),
            tlp: Tlp::default(),
            prr: Prr::default(),
            undo: Undo::default(),
            duplicates: 0,
            pacing: Pacing::default(),
            restarts: None,
            delivery: None,
            usage: Usage::default(),
            slow_start: Watch::default(),
            inbound: Inbound::new(settings, offered_mss_bytes),
            clock: Clock::new(isn, now),
            last_answer: Time::from_nanos(i64::MIN),
            last_heard: now,
            last_sent: now,
            is_unasked: false,
            probes: Probes::default(),
            orphaned: false,
        }
    }

    /// Longest segment that a subflow to `remote` says it takes, options of TCP included.
    pub fn offered_mss_bytes(settings: &config::Tcp, remote: SocketAddr, mtu_bytes: u32) -> u32 {
        let ip_bytes = if remote.is_ipv4() { 20 } else { 40 };
        let room_bytes = mtu_bytes.saturating_sub(ip_bytes + 20);
        settings.mss_bytes.map_or(room_bytes, |mss| mss.min(room_bytes)).max(segment_size::LEAST_BYTES)
    }

    /// Answers `syn`.
    pub fn accept(
        now: Time,
        settings: &config::Tcp,
        local: SocketAddr,
        remote: SocketAddr,
        isn: u32,
        mtu_bytes: u32,
        syn: &Tcp,
    ) -> Subflow {
        let mut subflow = Subflow::connect(now, settings, local, remote, isn, mtu_bytes);
        subflow.agree(now, syn);
        subflow.inbound.offer();
        subflow.state = State::SynReceived;
        subflow
    }

    /// The SYN carries so many bytes: they come before offset 1, and the SYN before them.
    pub fn carry_in_syn(&mut self, bytes: u32) {
        self.syn.carry(bytes);
    }

    /// The peer's SYN carried so many bytes, and they are taken.
    pub fn took_from_syn(&mut self, bytes: u32) {
        self.inbound.took_from_syn(bytes);
    }

    /// When [`Subflow::timeout`] is to be called, and [`Subflow::poll`] after it.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.first()
    }

    /// New data at the end of the stream; not before it is established, not after [`Subflow::close`].
    pub fn push(&mut self, piece: Piece) {
        debug_assert!(self.can_send(), "pushed to a subflow that is {:?}", self.state);
        debug_assert!(piece.len <= self.mss_bytes(), "{} bytes do not fit a segment", piece.len);
        self.queue.push(piece);
        self.unit.resume();
    }

    /// The last piece that waits, if it ends at `data_offset` and is short, takes up to `bytes` more of the data that follows
    /// it; says how many.
    pub fn extend(&mut self, data_offset: u64, bytes: u64) -> u64 {
        self.queue.extend(data_offset, bytes, self.mss_bytes())
    }

    /// No more is pushed for now: the last segment says so.
    pub fn end_write(&mut self) {
        self.queue.end_write();
    }

    /// Ends this direction after all that was pushed.
    pub fn close(&mut self) {
        if self.can_send() {
            self.due.set(Due::FIN);
        }
    }

    /// Gives up: the next poll gives a reset (unless the peer knows nothing of the subflow), and the state is closed.
    pub fn abort(&mut self) {
        let known = !matches!(self.state, State::SynSent | State::TimeWait | State::Closed);
        self.shut();
        if known {
            self.due.set(Due::RESET);
        }
    }

    /// Nobody reads any more: the peer's FIN is waited for no longer than [`config::Tcp::fin_timeout_ns`].
    pub fn orphan(&mut self, now: Time) {
        self.orphaned = true;
        if self.state == State::FinWait2 {
            self.timers.set_linger(self.timers.linger().min(now + self.settings.fin_timeout_ns));
        }
    }

    /// The same for what the connection has to say: upstream Linux gives such an ACK the time at which this subflow heard or
    /// sent last (net/mptcp/protocol.c, __mptcp_subflow_send_ack; nobody calls tcp_mstamp_refresh). Captures of Linux 6.18 show it:
    /// who gets that time echoed takes the pause before for a round trip.
    pub fn signal(&mut self) {
        self.is_unasked |= !self.due.has(Due::ACK);
        self.acknowledge();
    }

    /// The next poll gives an ACK even when none is due (window update, signals); before the handshake is over, the
    /// first after it.
    pub fn acknowledge(&mut self) {
        if !matches!(self.state, State::SynSent | State::Closed) {
            self.due.set(Due::ACK);
        }
    }

    /// Whether the peer's window is closed and nothing is in flight: runs the persist timer (RFC 9293 §3.8.6.1).
    pub fn probe(&mut self, now: Time, wanted: bool) {
        if !wanted || !self.is_established() || !self.flight.is_empty() {
            self.timers.set_persist(Time::MAX);
            self.probes.window_opened();
        } else if self.timers.persist() == Time::MAX {
            self.timers.set_persist(self.ticks.after(now, self.rto.timeout_ns()));
        }
    }

    /// Leaves room for `bytes` of the connection's options (a multiple of 4) in every full segment.
    pub fn reserve_options(&mut self, bytes: u32, control: &mut Control) {
        if self.segment_size.reserve(bytes) {
            self.queue.cut(self.mss_bytes());
        }
        control.windows[control.index].mss_bytes = self.mss_bytes();
    }
}

/// Whole packets of a window; one at least.
#[inline]
pub(super) fn whole(cwnd_packets: f64) -> u32 {
    (cwnd_packets as u32).max(1)
}
