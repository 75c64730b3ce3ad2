//! How many packets each subflow may have in flight. One controller is one file and one line in `policies!`.
//!
//! A controller serves a whole connection, so that it can couple its subflows. Recovery and timers are mechanism and
//! stand elsewhere; a controller only says what an ACK adds and where slow start ends after a loss.

use crate::policy::policies;
use crate::recovery::delivery::Rate;
use crate::slow_start::SlowStart;
use wire::Time;

mod linux;
pub(crate) mod rounds;

policies! {
    dyn Congestion, "congestion controller":
    "reno" = reno::Reno,
    "reno-linux" = reno_linux::RenoLinux,
    "cubic" = cubic::Cubic,
    "cubic-linux" = cubic_linux::CubicLinux,
    "lia" = lia::Lia,
    "lia-linux" = lia_linux::LiaLinux,
    "olia" = olia::Olia,
    "olia-linux" = olia_linux::OliaLinux,
    "balia" = balia::Balia,
    "balia-linux" = balia_linux::BaliaLinux,
    "wvegas" = wvegas::Wvegas with Parameters,
    "ewtcp" = ewtcp::Ewtcp with Parameters,
    "fully-coupled" = fully_coupled::FullyCoupled,
    "coupled-increase" = coupled_increase::CoupledIncrease,
    "coupled-decrease" = coupled_decrease::CoupledDecrease,
    "global-window" = global_window::GlobalWindow,
    "bbr" = bbr::Bbr,
}

/// Whether the one of that name is Reno over one path ([`Congestion::is_reno_alone`]).
pub fn is_reno_alone(name: &str) -> bool {
    build(name, &parameters::Table::default()).is_ok_and(|controller| controller.is_reno_alone())
}

/// What a controller sees of a subflow, and the windows that it sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window in packets. Fractions accumulate; only whole packets are sent.
    pub cwnd_packets: f64,
    /// Slow start ends here; infinite at first.
    pub ssthresh_packets: f64,
    /// Smoothed round-trip time; none before the first sample.
    pub srtt_ns: Option<i64>,
    /// Least round-trip time seen.
    pub min_rtt_ns: Option<i64>,
    /// Bytes in a full segment.
    pub mss_bytes: u32,
    /// In fast recovery: couple with the ssthresh, as the window is in motion.
    pub recovering: bool,
    /// Established and able to send; others are left out of every sum.
    pub usable: bool,
}

impl Window {
    /// Half of it, two packets at least: Reno's ssthresh after a loss (RFC 5681 eq. (4), with the window for the flight).
    pub fn half_packets(&self) -> f64 {
        (self.cwnd_packets / 2.0).max(2.0)
    }

    /// An ssthresh that brings it back to where it was, nearly (tcp_current_ssthresh).
    pub fn recent_packets(&self) -> f64 {
        self.ssthresh_packets.max((self.cwnd_packets / 2.0).floor() + (self.cwnd_packets / 4.0).floor())
    }

    /// Bytes and round-trip time in nanoseconds with which a subflow counts for the others: in recovery those that it
    /// will end with, as its window is in motion. None without a sample, or when it cannot send.
    pub fn coupling(&self) -> Option<(f64, f64)> {
        let packets = if self.recovering { self.ssthresh_packets } else { self.cwnd_packets };
        let rtt_ns = self.srtt_ns.filter(|_| self.usable)?;
        Some((packets * f64::from(self.mss_bytes), rtt_ns.max(1) as f64))
    }
}

/// All windows together, in segments of subflow `i`. None where it is alone or cannot be compared: it is Reno then, to the
/// bit, which the sum is not.
fn total_packets(i: usize, all: &[Window]) -> Option<f64> {
    all[i].coupling()?;
    let bytes = || all.iter().filter_map(Window::coupling).map(|(bytes, _)| bytes);
    (bytes().count() > 1).then(|| bytes().sum::<f64>() / f64::from(all[i].mss_bytes))
}

/// What a packet adds to a TCP's window: RFC 5681 eq. (3).
fn single(i: usize, all: &[Window]) -> f64 {
    1.0 / all[i].cwnd_packets
}

/// What an ACK says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acked {
    /// When it came.
    pub now: Time,
    /// Segments that it newly acknowledges, cumulatively or selectively.
    pub packets: u32,
    /// Bytes in them.
    pub bytes: u64,
    /// The round-trip time that it measured.
    pub rtt_ns: Option<i64>,
    /// Whether the window was what held the sender back; a controller does not grow one that was not used.
    pub cwnd_limited: bool,
    /// Packets in flight before it.
    pub in_flight_packets: u32,
    /// Those of them that it acknowledges cumulatively, whether or not they were known to be delivered.
    pub passed_packets: u32,
    /// Something is out of order, or was sent again (TCP_CA_Disorder, TCP_CA_Loss).
    pub disordered: bool,
}

/// Why a window shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A loss found by duplicate or selective ACKs, or by time (RACK), or a mark (ECN).
    FastRetransmit,
    /// The retransmission timer.
    Timeout,
}

/// What an ACK says to a controller by rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When it came.
    pub now: Time,
    /// The rate that it measured.
    pub rate: Option<Rate>,
    /// Segments delivered so far.
    pub delivered: u64,
    /// Segments that it delivered.
    pub packets: u32,
    /// Segments that it made lost.
    pub lost: u32,
    /// The round-trip time that it measured.
    pub rtt_ns: Option<i64>,
    /// It may have waited at the peer.
    pub ack_delayed: bool,
    /// Packets in flight before it.
    pub in_flight_before: u32,
    /// And after.
    pub in_flight: u32,
    /// Losses are being repaired, after a time-out too.
    pub repairing: bool,
    /// Fast recovery is under way.
    pub recovering: bool,
}

/// A controller that goes by delivery rates, as BBR.
pub trait ByRate {
    /// Subflow `i` was established; `random` is for its choices. Gives the pacing rate in bytes per second.
    fn started(&mut self, i: usize, window: &Window, now: Time, random: u64) -> u64;

    /// An ACK on subflow `i`: sets its window and gives the pacing rate in bytes per second.
    fn delivered(&mut self, i: usize, window: &mut Window, sample: &Sample) -> u64;

    /// Whether what subflow `i` sends now is kept low on purpose and says nothing of the path's rate.
    fn holds_back(&self, i: usize) -> bool;

    /// Subflow `i` sends again after it had nothing to send. Gives the pacing rate in bytes per second.
    fn restarted(&mut self, i: usize, window: &mut Window, now: Time) -> u64;
}

/// A congestion controller of one connection. Subflows are known by their index in `all`, which never changes.
pub trait Congestion: Send {
    /// Subflow `i` was established at `now`.
    fn joined(&mut self, _i: usize, _now: Time) {}

    /// An ACK on subflow `i`, outside recovery: the window grows, in slow start by the default below.
    fn acked(&mut self, i: usize, all: &mut [Window], acked: &Acked);

    /// An ACK on subflow `i` for which [`acked`](Congestion::acked) is not called, as it moves nothing or losses are being
    /// repaired.
    fn measured(&mut self, _i: usize, _all: &mut [Window], _acked: &Acked) {}

    /// A loss or a mark on subflow `i`, once per round trip: sets its ssthresh, as Reno does unless said otherwise. The window itself
    /// is recovery's to set.
    fn lost(&mut self, i: usize, all: &mut [Window], _now: Time, _cause: Cause) {
        all[i].ssthresh_packets = all[i].half_packets();
    }

    /// Whether a subflow alone is Reno, as with all that couple subflows. Plain TCP then has Reno instead.
    fn is_reno_alone(&self) -> bool {
        true
    }

    /// Slow start is asked to be of this kind on all subflows, which may be `paced`: whether that is to be done for the controller, as it does not
    /// do so itself.
    fn leave_slow_start(&mut self, _kind: SlowStart, _paced: bool) -> bool {
        true
    }

    /// Itself, if it goes by delivery rates: then windows and pacing are its own, in recovery too, and
    /// [`acked`](Congestion::acked) is not called.
    fn by_rate(&mut self) -> Option<&mut dyn ByRate> {
        None
    }

    /// Subflow `i` sends again, with nothing in flight; `restart`: with a window that begins anew. It sent nothing for `idle_ns`.
    fn resumed(&mut self, _i: usize, _now: Time, _idle_ns: i64, _restart: bool) {}

    /// The retransmission timer of subflow `i` expired, during repairs too, for which [`lost`](Congestion::lost) is not called.
    fn timed_out(&mut self, _i: usize) {}

    /// The loss was none: the windows are as they were before [`lost`](Congestion::lost).
    fn undone(&mut self, _i: usize) {}

    /// What most do with an ACK: slow start, and what remains of it adds so much per packet, reckoned anew for each, so that
    /// an ACK of two does what two ACKs of one do. A window that was not used does not grow.
    fn grow(&mut self, i: usize, all: &mut [Window], acked: &Acked, increase: fn(usize, &[Window]) -> f64)
    where
        Self: Sized,
    {
        if !acked.cwnd_limited {
            return;
        }
        for _ in 0..self.slow_start(i, all, acked) {
            all[i].cwnd_packets += increase(i, all);
        }
    }

    /// Slow start (RFC 5681 §3.1, with the byte counting of RFC 3465 in packets): what of `acked.packets` remains for
    /// congestion avoidance.
    fn slow_start(&mut self, i: usize, all: &mut [Window], acked: &Acked) -> u32 {
        let window = &mut all[i];
        if window.cwnd_packets >= window.ssthresh_packets {
            return acked.packets;
        }
        let grown = (window.cwnd_packets + f64::from(acked.packets)).min(window.ssthresh_packets.ceil());
        let used = grown - window.cwnd_packets;
        window.cwnd_packets = grown;
        acked.packets - (used.ceil() as u32).min(acked.packets)
    }
}
