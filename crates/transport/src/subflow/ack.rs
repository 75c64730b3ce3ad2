//! What an ACK says of the flight (RFC 5681, RFC 6675, RFC 8985) and what it does to the window.

use super::Control;
use super::phase::Phase;
use super::state::{Due, Subflow, whole};
use crate::congestion::{Acked, Congestion, Sample, Window};
use crate::recovery::pacing;
use crate::recovery::prr::Progress;
use crate::recovery::scoreboard::Record;
use crate::recovery::tlp::Answer;
use wire::{Brief, Flags, SackBlocks, Tcp, Time, seq};

/// ACKs older than this are not the peer's (RFC 5961 §5.2).
const OLDEST_ACK: i64 = 1 << 30;

/// What is news in an ACK.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Segments delivered, and their bytes.
    packets: u32,
    bytes: u64,
    /// When the first and the last of them were sent, those acknowledged cumulatively and those selectively.
    sent: Option<(Time, Time)>,
    sacked_sent: Option<(Time, Time)>,
    /// One of those acknowledged cumulatively was sent more than once.
    copies: bool,
    /// One was sent once, and before the repair began (FLAG_ORIG_SACK_ACKED).
    pub(super) original: bool,
    /// It says that data was marked.
    pub(super) marked: bool,
    /// One was acknowledged selectively.
    pub(super) sacked: bool,
    /// It moves the cumulative ACK, which was here before.
    pub(super) advanced: bool,
    pub(super) acked_before: u64,
    /// It says nothing else: no progress, no data, no wider window.
    pub(super) bare: bool,
    /// The timestamp that it echoes.
    pub(super) echo: Option<u32>,
    /// Segments that the peer reports as duplicates (RFC 2883).
    duplicates: u32,
    /// The first selective acknowledgement is of such.
    first_is_duplicate: bool,
    /// A tail loss probe is one of them.
    probe_twice: bool,
    /// What may be lost is given time, for which a timer started.
    pub(super) waits: bool,
}

/// A round trip.
#[derive(Clone, Copy, Debug)]
struct Rtt {
    /// Of the last segment that was acknowledged.
    last_ns: i64,
    /// Its ACK may have waited at the peer.
    delayed: bool,
}

impl News {
    fn add(&mut self, record: &Record, selectively: bool, recover: u64) {
        self.sacked |= selectively;
        self.original |= record.transmissions == 1 && record.end() <= recover;
        self.packets += 1;
        self.bytes += u64::from(record.piece.len);
        let sent = if selectively { &mut self.sacked_sent } else { &mut self.sent };
        if record.transmissions == 1 {
            sent.get_or_insert((record.first_sent, record.first_sent)).1 = record.first_sent;
        } else if !selectively {
            self.copies = true;
        }
    }
}

impl Subflow {
    /// Takes the acknowledgements of a segment; says whether they can be true (RFC 5961 §5.2).
    pub(super) fn acknowledged(&mut self, now: Time, tcp: &Tcp, len: u32, said: &Brief, control: &mut Control) -> bool {
        let ahead = i64::from(seq::diff(tcp.ack, self.isn.wrapping_add(self.acked as u32)));
        if ahead < -OLDEST_ACK || ahead > (self.next - self.acked) as i64 {
            self.answer(now, len);
            return false;
        }
        self.probes.answered();
        self.unit.resume();
        if self.flight.is_empty() && said.sack.as_slice().is_empty() {
            return true; // as at the end that only receives
        }
        self.take_news(now, tcp, len, said, ahead, control);
        true
    }

    /// What an ACK says of the flight that is `ahead` of the last one.
    #[inline(never)] // at the end that only receives nothing comes here
    fn take_news(&mut self, now: Time, tcp: &Tcp, len: u32, said: &Brief, ahead: i64, control: &mut Control) {
        let bare = len == 0 && ahead == 0 && !tcp.flags.has(Flags::FIN) && !said.signals && !self.changes_window(tcp);
        let echo = said.timestamps.map(|(_, echo)| echo);
        let marked = self.ecn.hears(tcp.flags);
        let mut news = News { bare, echo, marked, acked_before: self.acked, ..News::default() };
        if self.sack {
            self.read_duplicates(&said.sack, ahead, &mut news);
        }
        if self.flight.is_empty() {
            if news.duplicates > 0 {
                self.undo_duplicates(control);
            }
            return;
        }
        let flight = self.flight.len();
        let in_flight_before = self.in_flight_packets();
        let lost_before = self.flight.lost_ever();
        if ahead > 0 {
            self.acked += ahead as u64;
            news.advanced = true;
            self.timeouts.end();
        }
        self.deliver(now, said, &mut news);
        self.rack.read();
        if !self.sack {
            self.count_duplicates(&mut news, flight, bare);
        }
        let rtt = self.measure(now, &news, flight);
        self.check_probe(now, &news, control);
        self.change_phase(now, &mut news, control);
        if self.delivery.is_some() {
            self.sample_rate(now, &news, rtt, in_flight_before, lost_before, control);
        } else {
            self.set_window(now, &news, rtt.map(|rtt| rtt.last_ns), flight, lost_before, control);
            // Not when a time-out or an idle time makes the window smaller (tcp_cong_control, tcp_update_pacing_rate).
            self.pacing.set_rate(pacing::bytes_per_second(&control.windows[control.index], self.flight.len()));
        }
        self.restart_timers(now, &news);
    }

    /// The first block may report a duplicate (RFC 2883 §4): below the cumulative ACK, or inside the second block. Not more is
    /// believed than was sent again (tcp_check_dsack, tcp_dsack_seen).
    /// The ACK is `ahead` of the last one.
    fn read_duplicates(&mut self, sack: &SackBlocks, ahead: i64, news: &mut News) {
        let base = self.isn.wrapping_add(self.acked as u32);
        let Some((left, right)) = duplicate(sack, base.wrapping_add(ahead as u32)) else { return };
        news.first_is_duplicate = true;
        let offset = |seq| self.acked.checked_add_signed(i64::from(seq::diff(seq, base)));
        let Some(range) = offset(left).zip(offset(right)).map(|(start, end)| start..end) else { return };
        if range.is_empty() || range.end > self.next {
            return;
        }
        let mss_bytes = u64::from(self.mss_bytes());
        let segments = (range.end - range.start).div_ceil(mss_bytes) as u32;
        self.duplicates += u64::from(segments);
        if self.duplicates > self.retransmitted {
            return;
        }
        news.duplicates = segments;
        news.probe_twice = range.end - range.start <= mss_bytes && self.tlp.is_of(range.end);
        if !news.probe_twice {
            self.rack.duplicate(self.acked, self.next);
        }
        let copies = if range.end <= self.acked { segments } else { self.flight.resent_in(&range) };
        self.undo.duplicates(copies, range.end);
    }

    /// Takes out of the flight what arrived.
    fn deliver(&mut self, now: Time, said: &Brief, news: &mut News) {
        let (rack, min_rtt_ns) = (&mut self.rack, self.rto.min_rtt_ns().unwrap_or(0));
        let (delivery, recover) = (&mut self.delivery, self.recovery.until());
        let mut arrived = |record: &Record| {
            if let Some(delivery) = delivery {
                delivery.arrived(record.offset);
            }
        };
        // A copy whose sending the echo precedes is not the one that arrived (tcp_skb_spurious_retrans). Above a hole the echo is
        // older than all copies, and says nothing (tcp_sacktag_one).
        let (clock, echo) = (self.clock, news.echo);
        let other_copy = |record: &Record| record.transmissions > 1 && clock.is_before(echo, record.last_sent);
        if news.advanced {
            self.flight.acknowledge(self.acked, |record| {
                news.add(record, false, recover);
                arrived(record);
                rack.delivered(now, record, min_rtt_ns, other_copy(record));
            });
        }
        if self.sack && !said.sack.as_slice().is_empty() {
            let base = self.isn.wrapping_add(self.acked as u32);
            let said = &said.sack.as_slice()[usize::from(news.first_is_duplicate)..];
            let mut blocks = [(0, 0); 4];
            for (block, &(left, right)) in blocks.iter_mut().zip(said) {
                *block = (i64::from(seq::diff(left, base)), i64::from(seq::diff(right, base)));
            }
            // In the order of the stream: the one that changed last comes first in the option, which is no reordering.
            blocks.sort_unstable();
            for (left, right) in blocks {
                // RFC 2018 §4: above the cumulative ACK, below what was sent.
                if left < 0 || right <= left || right > (self.next - self.acked) as i64 {
                    continue;
                }
                self.flight.sack(self.acked + left as u64..self.acked + right as u64, |record| {
                    news.add(record, true, recover);
                    arrived(record);
                    rack.delivered(now, record, min_rtt_ns, false);
                });
            }
        }
    }

    /// Without selective ACKs the number of duplicates is all there is (RFC 6582).
    #[inline(never)] // nearly all have selective ACKs
    fn count_duplicates(&mut self, news: &mut News, flight: u32, bare: bool) {
        if news.advanced {
            // What was acknowledged with copies may owe it to them.
            news.original &= !news.copies;
            news.packets = self.newreno.acknowledged(news.packets);
            if self.recovery.phase() == Phase::Loss {
                self.newreno.reset();
            }
        } else if bare && self.recovery.phase() != Phase::Loss && self.newreno.duplicate(flight - self.flight.lost()) {
            news.packets += 1;
            news.bytes += u64::from(self.mss_bytes());
        }
    }

    /// The round-trip time: of what was sent once, or by the echo (RFC 6298 §3, RFC 7323 §4.1; tcp_ack_update_rtt). The first
    /// of the segments says when to give up waiting, the last, which no ACK was delayed for, how long the path is.
    fn measure(&mut self, now: Time, news: &News, flight: u32) -> Option<Rtt> {
        let sent = if news.copies { None } else { news.sent };
        let echo = || news.echo.filter(|&echo| news.advanced && echo != 0);
        let (first_ns, last_ns) = match (sent, news.sacked_sent) {
            (None, None) => {
                let rtt_ns = self.clock.since_ns(now, echo()?)?;
                (rtt_ns, rtt_ns)
            }
            (sent, sacked) => (now - sent.or(sacked)?.0, now - sacked.or(sent)?.1),
        };
        // A lone segment that is not full is acknowledged late (FLAG_ACK_MAYBE_DELAYED).
        let delayed = flight == 1 && news.packets == 1 && sent.is_some() && news.bytes < u64::from(self.mss_bytes());
        if !delayed || self.min_rtt_ns().is_none_or(|least| last_ns <= least) {
            self.rto.least(now, last_ns);
        }
        self.rto.sample(first_ns, self.acked, self.next);
        Some(Rtt { last_ns, delayed })
    }

    /// RFC 8985 §7.4
    fn check_probe(&mut self, now: Time, news: &News, control: &mut Control) {
        let bare = news.bare && news.packets == 0;
        let answer = Answer { acked: self.acked, duplicate: news.probe_twice, bare };
        if self.tlp.acknowledged(&answer) && self.recovery.is_open() {
            self.slow_start.lost();
            control.congestion.lost(control.index, control.windows, now, crate::congestion::Cause::FastRetransmit);
            self.ecn.reduced();
            self.ecn.take_reduction();
            let window = &mut control.windows[control.index];
            window.recovering = false;
            window.cwnd_packets = window.cwnd_packets.min(window.ssthresh_packets.max(1.0));
        }
    }

    /// Recovery sets the window; otherwise it grows as the controller says.
    #[inline(always)] // every ACK passes here
    fn set_window(
        &mut self,
        now: Time,
        news: &News,
        rtt_ns: Option<i64>,
        flight: u32,
        lost_before: u64,
        control: &mut Control,
    ) {
        let window = &mut control.windows[control.index];
        (window.srtt_ns, window.min_rtt_ns) = (self.srtt_ns(), self.min_rtt_ns());
        // A copy that arrived twice left the network too (tcp_dsack_seen).
        let delivered = news.packets + news.duplicates;
        let mut acked = Acked {
            now,
            packets: delivered,
            bytes: news.bytes,
            rtt_ns,
            cwnd_limited: self.usage.is_limited(window),
            in_flight_packets: flight,
            passed_packets: flight - self.flight.len(),
            disordered: self.is_disordered(),
        };
        if self.is_reducing() {
            control.congestion.measured(control.index, control.windows, &acked);
            let nothing_lost = self.flight.lost_ever() == lost_before;
            self.reduce(&Progress { delivered, nothing_lost, advanced: news.advanced }, control);
        } else if news.packets > 0 && (news.advanced || self.grows_out_of_order()) {
            if !self.settings.appropriate_byte_counting && counts_acks(window, control.congestion) {
                acked.packets = 1;
            }
            self.slow_start.acked(window, &mut acked);
            control.congestion.acked(control.index, control.windows, &acked);
            self.usage.set(now);
        } else {
            control.congestion.measured(control.index, control.windows, &acked);
        }
    }

    /// Whether what is delivered lets the window grow also where a hole is left (tcp_may_raise_cwnd, since 3.12).
    fn grows_out_of_order(&self) -> bool {
        self.settings.rack && self.rack.overtakes_far(self.mss_bytes())
    }

    /// A controller by rate sets window and pacing itself.
    #[inline(never)] // few have one
    fn sample_rate(
        &mut self,
        now: Time,
        news: &News,
        rtt: Option<Rtt>,
        in_flight_before: u32,
        lost_before: u64,
        control: &mut Control,
    ) {
        let (srtt_ns, min_rtt_ns, in_flight) = (self.srtt_ns(), self.min_rtt_ns(), self.in_flight_packets());
        let window = &mut control.windows[control.index];
        (window.srtt_ns, window.min_rtt_ns) = (srtt_ns, min_rtt_ns);
        let Some((delivery, controller)) = self.delivery.as_mut().zip(control.congestion.by_rate()) else { return };
        let sample = Sample {
            now,
            rate: delivery.sample(now, news.packets, self.acked, min_rtt_ns.unwrap_or(0)),
            delivered: delivery.delivered(),
            packets: news.packets,
            lost: (self.flight.lost_ever() - lost_before) as u32,
            rtt_ns: rtt.map(|rtt| rtt.last_ns),
            ack_delayed: rtt.is_some_and(|rtt| rtt.delayed),
            in_flight_before,
            in_flight,
            repairing: !self.recovery.is_open(),
            recovering: self.recovery.phase() == Phase::Recovery,
        };
        self.pacing.set_rate(controller.delivered(control.index, window, &sample));
        if controller.holds_back(control.index) {
            delivery.limit(in_flight);
        }
    }

    /// RFC 6298 §5.2, §5.3; RFC 8985 §7.2. Progress restarts them, and selective ACKs of what was sent before the first segment was
    /// sent last: its own cannot be here yet (tcp_clean_rtx_queue, FLAG_SET_XMIT_TIMER).
    fn restart_timers(&mut self, now: Time, news: &News) {
        let Some(first) = self.flight.first() else {
            self.timers.disarm();
            self.due.clear(Due::TAIL);
            return;
        };
        let earlier = news.sacked_sent.is_some_and(|(sent, _)| sent < first.last_sent);
        if (news.advanced || earlier) && !news.waits {
            self.restart(now);
        }
    }

    /// Shows the connection what changed.
    pub(super) fn mirror(&self, control: &mut Control) {
        control.windows[control.index].usable = self.can_send();
    }

    /// Packets that the window lets be in flight.
    #[inline]
    pub(super) fn window_packets(&self, control: &Control) -> u32 {
        whole(control.windows[control.index].cwnd_packets)
    }
}

/// Whether a window grows by the number of ACKs where bytes are not counted: in slow start, and with Reno and what is Reno
/// over one path after it. CUBIC there makes up for what an ACK acknowledges (delayed_ack in net/ipv4/tcp_cubic.c).
fn counts_acks(window: &Window, congestion: &dyn Congestion) -> bool {
    window.cwnd_packets < window.ssthresh_packets || congestion.is_reno_alone()
}

/// The block that reports a duplicate, if the first does (RFC 2883 §4).
fn duplicate(sack: &SackBlocks, acked: u32) -> Option<(u32, u32)> {
    match *sack.as_slice() {
        [first, ..] if seq::diff(first.0, acked) < 0 => Some(first),
        [first, second, ..] if seq::diff(first.0, second.0) >= 0 && seq::diff(first.1, second.1) <= 0 => Some(first),
        _ => None,
    }
}
