//! What came from the peer: order, selective acknowledgements, and when an ACK is due.

use super::Room;
use super::ack_timeout::AckTimeout;
use super::compression::{self, Compression};
use crate::config;
use crate::memory::{Memory, occupied_bytes};
use crate::recovery::ranges::Ranges;
use crate::recovery::wheel::Ticks;
use std::ops::Range;
use wire::{SackBlocks, Time};

#[cfg(test)]
mod tests;

/// The receiving half of a subflow.
#[derive(Debug)]
pub(super) struct Inbound {
    /// The peer's initial sequence number.
    pub(super) isn: u32,
    /// What its SYN carried: bytes that come before offset 1.
    syn_bytes: u32,
    /// Next offset expected.
    pub(super) next: u64,
    /// What the last ACK said.
    pub(super) acked: u64,
    /// Whether the FIN came in order.
    pub(super) finished: bool,
    fin_at: Option<u64>,
    ranges: Ranges,
    /// Ranges as last reported, the latest first (RFC 2018 §4).
    recent: Vec<Range<u64>>,
    /// To be reported as a duplicate (RFC 2883).
    duplicate: Option<Range<u64>>,
    /// None: no ACK is delayed.
    pub(super) timeout: Option<AckTimeout>,
    /// ACKs at once after what calls for them.
    quick_acks: u32,
    /// Those of them that are left.
    quick: u32,
    /// Payload of the peer's full segments, as seen: rcv_mss.
    pub(super) segment_bytes: u32,
    /// The last segment, if it was short and may be full all the same: last_seg_size.
    last_short_bytes: u32,
    compression: Compression,
    /// Whether data came since the last ACK.
    is_scheduled: bool,
    /// How many did that may end what the peer writes, 2 at most (ICSK_ACK_PUSHED, ICSK_ACK_PUSHED2).
    pushed: u8,
    /// Memory for what comes.
    pub(super) memory: Memory,
    /// How far the window has grown: rcv_ssthresh.
    pub(super) grown_bytes: u64,
    /// Most bytes of a segment that this end takes, without timestamps: by two of them the window grows.
    pub(super) most_segment_bytes: u32,
}

/// What full segments are taken to have before one came (tcp_initialize_rcv_mss), and what every path takes: TCP_MSS_DEFAULT.
const FIRST_SEGMENT_BYTES: u32 = 536;
/// Of TCP without options.
pub(super) const HEADER_BYTES: u32 = 20;
/// The peer's segments are taken to be no shorter: TCP_MIN_MSS.
pub(super) const LEAST_SEGMENT_BYTES: u32 = 88;
/// Smaller segments cost more memory than they carry: they let no window grow.
const LEAST_GROWING_BYTES: u64 = 128;

/// Selective acknowledgements that an option has room for at most.
const BLOCKS: usize = 4;

/// Ranges out of order that are kept. More holes no honest path makes in a window; a peer could make one with every
/// byte that it sends.
const MOST_RANGES: usize = 16_384;

/// When a segment wants to be acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckDue {
    /// Never: it holds nothing.
    No,
    /// At this time.
    By(Time),
    /// At once.
    Now,
    /// At once, but a reader comes first where the window would get narrower.
    Read,
}

/// What a receiver's ACKs hang on besides the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Circumstances {
    pub(super) now: Time,
    /// What the connection lets the window grow to.
    pub(super) room: Room,
    /// This end's retransmission time-out: so long without data, and the peer begins anew.
    pub(super) rto_ns: i64,
    /// Whether ACKs say what came out of order. Where they do not, the window stays behind a hole, or the peer would not take
    /// them for duplicates (tcp_data_queue_ofo).
    pub(super) sack: bool,
    /// Whether ACKs for what came out of order may wait for more of it.
    pub(super) compresses: bool,
    /// Whether the segment says that the peer has no more for now: PSH or FIN.
    pub(super) ends_write: bool,
    /// The segment's options, but for timestamps.
    pub(super) options_bytes: u32,
    /// TCP's header with what each segment has of options: timestamps, if they are used.
    pub(super) header_bytes: u32,
    pub(super) srtt_ns: Option<i64>,
    pub(super) ticks: Ticks,
}

/// What a segment brought.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    /// Bytes in order now.
    pub(super) in_order: Range<u64>,
    /// The FIN is in order now.
    pub(super) finished: bool,
    pub(super) ack: AckDue,
}

impl Inbound {
    pub(super) fn new(settings: &config::Tcp, offered_mss_bytes: u32) -> Inbound {
        let memory = Memory::new(settings, offered_mss_bytes);
        Inbound {
            isn: 0,
            syn_bytes: 0,
            next: 0,
            acked: 0,
            finished: false,
            fin_at: None,
            ranges: Ranges::default(),
            recent: Vec::with_capacity(BLOCKS + 1),
            duplicate: None,
            timeout: settings.delayed_ack_ns.map(AckTimeout::new),
            quick_acks: settings.quick_acks,
            quick: settings.quick_acks,
            segment_bytes: FIRST_SEGMENT_BYTES.min(offered_mss_bytes),
            last_short_bytes: 0,
            compression: Compression::default(),
            is_scheduled: false,
            pushed: 0,
            memory,
            grown_bytes: memory.first_window(offered_mss_bytes),
            most_segment_bytes: offered_mss_bytes,
        }
    }

    /// What it answers to a SYN offers whole segments without what options take of each (tcp_openreq_init_rwin).
    pub(super) fn offer(&mut self) {
        self.grown_bytes = self.memory.first_window(self.most_segment_bytes);
    }

    /// The peer's SYN.
    pub(super) fn opened(&mut self, isn: u32) {
        (self.isn, self.next, self.acked) = (isn, 1, 1);
    }

    /// The peer's SYN carried so many bytes, and they are taken.
    pub(super) fn took_from_syn(&mut self, bytes: u32) {
        self.syn_bytes = bytes;
        self.isn = self.isn.wrapping_add(bytes);
    }

    /// What its SYN carried.
    #[inline]
    pub(super) fn syn_bytes(&self) -> u32 {
        self.syn_bytes
    }

    /// Offset of a sequence number.
    #[inline]
    pub(super) fn offset(&self, seq: u32) -> i64 {
        self.next as i64 + i64::from(wire::seq::diff(seq, self.seq(self.next)))
    }

    /// Sequence number of an offset.
    #[inline]
    pub(super) fn seq(&self, offset: u64) -> u32 {
        self.isn.wrapping_add(offset as u32)
    }

    /// Payload came that lies at `range`, and a FIN after it.
    pub(super) fn arrive(&mut self, at: &Circumstances, range: Range<u64>, fin: bool) -> Arrival {
        let before = self.next;
        self.hurry(at, &range);
        if fin && range.end >= before {
            self.fin_at.get_or_insert(range.end);
        }
        self.is_scheduled = true;
        // The FIN has a sequence number of its own behind the data, also in what ACKs say of holes (tcp_data_queue_ofo).
        let ack = self.keep(at, range.start..range.end + u64::from(fin));
        let end = self.fin_at.unwrap_or(u64::MAX);
        let in_order = before..self.next.min(end).max(before);
        let finished = !self.finished && self.next > end;
        self.finished |= finished;
        Arrival { in_order, finished, ack: if finished { AckDue::Now } else { ack } }
    }

    /// Decides whether ACKs wait from here on, as Linux does (net/ipv4/tcp_input.c): not after a pause
    /// (tcp_event_data_recv), nor while the window grows by two segments for each that comes (tcp_grow_window).
    fn hurry(&mut self, at: &Circumstances, range: &Range<u64>) {
        let len = range.end - range.start;
        self.grown_bytes = self.grown_bytes.min(self.memory.clamp());
        if len > 0 && range.start <= self.next && range.end > self.next {
            self.measure(at, len as u32);
            if self.timeout.as_mut().is_some_and(|timeout| timeout.heard(at.now, at.ticks, at.rto_ns)) {
                self.quick = self.quick.max(self.quick_acks);
            }
        }
        let grows = range.start <= self.next || at.sack;
        if grows && len >= LEAST_GROWING_BYTES && range.end > self.next {
            self.grow_window(at, len as u32);
        }
    }

    /// The next ACKs, at least so many, do not wait (tcp_enter_quickack_mode).
    pub(super) fn hurry_acks(&mut self, acks: u32) {
        self.quick = self.quick.max(acks);
        if let Some(timeout) = &mut self.timeout {
            timeout.answers = false;
            timeout.deflate();
        }
    }

    /// tcp_measure_rcv_mss: where the first full segment says that more of the buffer is window, the window may be at once what
    /// was announced (tcp_set_window_clamp). A subflow that joined has announced that of the connection.
    fn measure(&mut self, at: &Circumstances, len: u32) {
        let before = std::mem::take(&mut self.last_short_bytes);
        if len < self.segment_bytes {
            return self.measure_short(at, len, before);
        }
        self.pushed = self.pushed.max(u8::from(at.ends_write));
        if len > self.segment_bytes {
            self.segment_bytes = len.min(self.most_segment_bytes);
            if self.memory.measure(len) {
                self.grown_bytes = self.grown_bytes.max(at.room.advertised_bytes.min(self.memory.window()));
            }
        }
    }

    /// A short segment counts as full if the one `before` was as long, and it is longer than what every path takes or more is to
    /// follow. Options that are not in each segment count as payload here.
    fn measure_short(&mut self, at: &Circumstances, len: u32, before: u32) {
        let size = len + at.options_bytes;
        let least = if at.ends_write { FIRST_SEGMENT_BYTES } else { LEAST_SEGMENT_BYTES };
        if size + at.header_bytes >= least + HEADER_BYTES {
            self.last_short_bytes = size;
            if size == before {
                self.segment_bytes = size;
                return;
            }
        }
        self.pushed = (self.pushed + 1).min(2);
    }

    /// tcp_grow_window: towards what memory is left, with this segment in it.
    fn grow_window(&mut self, at: &Circumstances, len: u32) {
        let occupied =
            self.memory.window().saturating_sub(self.ranges.bytes() + u64::from(len)).min(self.memory.clamp());
        // Reckoned as this segment has just been measured.
        let goal = self.memory.window_from(at.room.buffer_bytes).saturating_sub(at.room.unread_bytes);
        let room = occupied.min(goal).saturating_sub(self.grown_bytes);
        if room == 0 {
            return;
        }
        let by = if self.memory.fits(len) { 2 * u64::from(self.most_segment_bytes) } else { self.slowly(len) };
        if by > 0 {
            self.grown_bytes += room.min(by.max(2 * u64::from(len)));
            self.quick |= 1;
        }
    }

    /// __tcp_grow_window: segments that waste memory let small windows grow only.
    fn slowly(&self, len: u32) -> u64 {
        let mut occupied = self.memory.window_from(occupied_bytes(len)) / 2;
        let mut window = self.memory.most_window() / 2;
        while self.grown_bytes <= window && window > 0 {
            if occupied <= u64::from(len) {
                return 2 * u64::from(self.segment_bytes);
            }
            (occupied, window) = (occupied / 2, window / 2);
        }
        0
    }

    fn keep(&mut self, at: &Circumstances, range: Range<u64>) -> AckDue {
        if range.is_empty() {
            return AckDue::No;
        }
        if range.start > self.next {
            if self.ranges.len() < MOST_RANGES {
                self.insert(range);
            }
            // RFC 5681 §4.2: at once, so that the sender learns of the hole. Once it must have, ACKs may wait.
            let waits = at.compresses && self.quick == 0 && !self.compression.is_due(self.next);
            return if waits { AckDue::By(at.now + compression::wait_ns(at.srtt_ns)) } else { AckDue::Now };
        }
        if range.end <= self.next {
            self.came_again(range);
            return AckDue::Now;
        }
        if range.start < self.next {
            // RFC 2883 §4.1.2
            self.duplicate = Some(range.start..self.next);
        }
        self.next = range.end;
        if !self.ranges.is_empty() {
            // RFC 5681 §4.2: it fills all or part of a hole.
            self.next = self.ranges.take_first(self.next);
            let next = self.next;
            self.recent.retain(|block| block.end > next);
            return AckDue::Now;
        }
        // RFC 1122 §4.2.3.2: for every second full segment at least.
        match &mut self.timeout {
            Some(timeout) if self.quick == 0 || timeout.answers => {
                if self.next - self.acked > u64::from(self.segment_bytes) {
                    AckDue::Read
                } else {
                    timeout.wait(at.now, at.ticks, at.srtt_ns).map_or(AckDue::Now, AckDue::By)
                }
            }
            _ => AckDue::Now,
        }
    }

    #[inline(never)] // only after losses
    fn insert(&mut self, range: Range<u64>) {
        let mut new = 0;
        let len = range.end - range.start;
        let held = self.ranges.insert(range.clone(), |part| new += part.end - part.start);
        if new < len {
            self.duplicate = Some(range);
        }
        self.recent.retain(|block| block.end < held.start || block.start > held.end);
        self.memory.grow_ahead(self.span_bytes());
        self.recent.insert(0, held);
        self.recent.truncate(BLOCKS);
    }

    /// An ACK leaves: nothing is due.
    #[inline]
    pub(super) fn acknowledged(&mut self) {
        self.compression.acknowledged();
        self.pushed = 0;
        if let Some(timeout) = &mut self.timeout {
            timeout.stop();
            if self.is_scheduled && self.quick == 1 {
                timeout.deflate();
            }
        }
        if std::mem::take(&mut self.is_scheduled) {
            self.quick = self.quick.saturating_sub(1);
        }
        self.acked = self.next;
    }

    /// Whether an ACK waits for no more than a second segment, though the peer may have no more to send, nor does this end
    /// (__tcp_cleanup_rbuf).
    pub(super) fn waits_in_vain(&self) -> bool {
        let answers = self.timeout.is_some_and(|timeout| timeout.answers);
        self.is_scheduled && self.pushed > u8::from(answers)
    }

    /// Selective acknowledgements, at most `room` of them: a duplicate, once, then the latest ranges.
    pub(super) fn blocks(&mut self, room: usize) -> SackBlocks {
        let mut blocks = [(0, 0); BLOCKS];
        let mut len = 0;
        for range in self.duplicate.take().iter().chain(&self.recent).take(room.min(BLOCKS)) {
            blocks[len] = (self.seq(range.start), self.seq(range.end));
            len += 1;
        }
        SackBlocks::new(&blocks[..len])
    }

    /// Whether there is something for [`Inbound::blocks`].
    #[inline]
    pub(super) fn has_blocks(&self) -> bool {
        self.duplicate.is_some() || !self.recent.is_empty()
    }

    /// A segment came again that is wholly old: the peer lacks ACKs (net/ipv4/tcp_input.c, tcp_send_dupack).
    pub(super) fn came_again(&mut self, range: Range<u64>) {
        self.duplicate = Some(range);
        self.hurry_acks(self.quick_acks);
    }

    /// From the first byte that is missing to the last that came.
    pub(super) fn span_bytes(&self) -> u64 {
        self.ranges.end().map_or(0, |end| end - self.next)
    }

    /// Bytes that wait for others before them.
    pub(super) fn out_of_order_bytes(&self) -> u64 {
        self.ranges.bytes()
    }
}
