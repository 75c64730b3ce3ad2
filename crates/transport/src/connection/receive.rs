//! Receiving: reassembly at connection level, and the window that is announced to the peer.

use super::held::Held;
use crate::memory::Memory;
use crate::recovery::ranges::Ranges;
use wire::Time;

/// Nothing came.
const NEVER: (Time, u64, u64) = (Time::from_nanos(i64::MIN), 0, 0);

/// The receiving half of a connection.
#[derive(Debug)]
pub struct Receive {
    /// Everything below this data offset has arrived.
    next: u64,
    /// Everything below this data offset was read by the application.
    read: u64,
    /// What arrived beyond `next`.
    ahead: Ranges,
    /// Where the peer's data ends, once it said so.
    end: Option<u64>,
    /// The peer may send up to here; never goes back.
    edge: u64,
    /// It must not go further.
    bound: bool,
    memory: Memory,
    /// What is not read takes of it, where that is counted by segments.
    held: Held,
    /// When data came in order last, how much, and what was held then: its ACK leaves before the application reads it.
    came: (Time, u64, u64),
    /// The window that the next one is compared with: that which was announced last, on whichever subflow (old_wspace).
    announced: u64,
    /// When the round that is watched began, and what had been read then.
    round: Option<(Time, u64)>,
    /// How long it takes, once that is known.
    round_ns: i64,
}

impl Receive {
    /// With a buffer that begins with a window of `first_bytes`.
    pub fn new(memory: Memory, first_bytes: u64) -> Receive {
        Receive {
            next: 0,
            read: 0,
            ahead: Ranges::default(),
            end: None,
            edge: first_bytes,
            bound: true,
            memory,
            held: Held::default(),
            came: NEVER,
            announced: first_bytes,
            round: None,
            round_ns: 0,
        }
    }

    /// What may come is for others to say.
    pub fn unbind(&mut self) {
        self.bound = false;
    }

    /// Bytes of data arrived for `data_offset`. Says whether more is in order now.
    pub fn deliver(&mut self, data_offset: u64, len: u64) -> bool {
        let data = data_offset.max(self.next)..self.clip(data_offset + len);
        if data.is_empty() {
            return false;
        }
        if data.start > self.next {
            if self.bound && data.end > self.edge {
                return false; // beyond the window: no memory for it (RFC 8684 §3.3.5; mptcp_data_queue_ofo)
            }
            self.ahead.insert(data, |_| {});
            return false;
        }
        self.next = data.end;
        if self.ahead.is_empty() {
            return true;
        }
        while let next = self.ahead.take_first(self.next)
            && next > self.next
        {
            self.next = next;
        }
        self.ahead.trim(self.next);
        true
    }

    /// As [`Receive::deliver`], of a segment that takes memory until all of it is read (sk_rmem_alloc).
    pub fn take_in(&mut self, data_offset: u64, len: u64) -> bool {
        let before = (self.next, self.ahead.bytes());
        let grew = self.deliver(data_offset, len);
        if before != (self.next, self.ahead.bytes()) {
            let (takes, leaves) = self.memory.taken_by(len as u32);
            self.held.hold(data_offset..data_offset + len, takes, leaves);
        }
        grew
    }

    /// Segments take more memory than there is: no other is taken in, not even what would fill a hole.
    pub fn is_full(&self) -> bool {
        self.held.bytes() > self.memory.bytes()
    }

    /// `data_offset`, or the end of the peer's data where that is before it.
    pub fn clip(&self, data_offset: u64) -> u64 {
        self.end.map_or(data_offset, |end| data_offset.min(end))
    }

    /// The peer's data ends at `data_offset` (DATA_FIN, or the FIN of plain TCP). Only the first word counts; what lies behind
    /// it is none.
    pub fn end_at(&mut self, data_offset: u64) {
        if self.end.is_none() {
            self.end = Some(data_offset);
            self.ahead.cut(data_offset);
        }
    }

    /// Whether all that the peer sent has arrived, and its end.
    pub fn finished(&self) -> bool {
        self.end.is_some_and(|end| end <= self.next)
    }

    /// What a DATA_ACK says: the next data offset that is missing; the end takes one of its own (RFC 8684 §3.3.3).
    pub fn acknowledged(&self) -> u64 {
        self.next + u64::from(self.finished())
    }

    /// The next data offset that is missing.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Everything below this data offset was read.
    pub fn read_to(&self) -> u64 {
        self.read
    }

    /// Bytes that can be read.
    pub fn readable(&self) -> u64 {
        self.next - self.read
    }

    /// Bytes that wait for others before them.
    pub fn out_of_order(&self) -> u64 {
        self.ahead.bytes()
    }

    /// Its buffer.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Its buffer.
    pub fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// A segment came and brought so many bytes in order, those that waited for it included.
    pub fn came(&mut self, now: Time, bytes: u64) {
        self.came = (now, bytes, self.held.bytes());
    }

    /// The window that memory is left for, as an ACK of `now` says it.
    pub fn room(&self, now: Time) -> u64 {
        let (at, bytes, held) = self.came;
        let (bytes, held) = if at == now { (bytes, held) } else { (0, 0) };
        let held = held.max(self.held.bytes());
        if held > 0 {
            return self.memory.window_from(self.memory.bytes().saturating_sub(held)); // mptcp_space
        }
        self.memory.window().saturating_sub(self.readable().max(bytes) + self.out_of_order())
    }

    /// ACKs leave after the application has read what came last.
    pub fn read_first(&mut self) {
        self.came = NEVER;
    }

    /// A subflow that could announce a window of `bytes` does, or what is left of the widest that any announced: the edge
    /// never goes back (net/mptcp/options.c, mptcp_set_rwin).
    pub fn tell(&mut self, bytes: u64) -> u64 {
        self.edge = self.next.saturating_add(self.would_tell(bytes));
        self.edge - self.next
    }

    /// What it would tell.
    pub fn would_tell(&self, bytes: u64) -> u64 {
        self.edge.max(self.next.saturating_add(bytes)) - self.next
    }

    /// A window was announced, which the next one is compared with.
    pub fn keep(&mut self, announced: u64) {
        self.announced = announced;
    }

    /// The window that the next one is compared with.
    pub fn announced(&self) -> u64 {
        self.announced
    }

    /// Reads up to `bytes`; says how many.
    pub fn read(&mut self, bytes: u64) -> u64 {
        let bytes = bytes.min(self.readable());
        self.read += bytes;
        self.held.let_go(self.read);
        bytes
    }

    /// Whether a round trip is not over.
    pub fn is_in_round(&self, now: Time) -> bool {
        self.round.is_some_and(|(began, _)| now - began < self.round_ns)
    }

    /// What was read in the round trip that ends now, if that is more than in any before (net/ipv4/tcp_input.c,
    /// tcp_rcv_space_adjust; net/mptcp/protocol.c, mptcp_rcv_space_adjust). The first begins with the first reading, also where it
    /// is not known yet how long a round trip takes.
    pub fn read_in_round(&mut self, now: Time, rtt_ns: Option<i64>) -> Option<u64> {
        let (began, read_then) = *self.round.get_or_insert((now, 0));
        let rtt_ns = rtt_ns?;
        self.round_ns = rtt_ns;
        if now - began < rtt_ns {
            return None;
        }
        self.round = Some((now, self.read));
        Some(self.read - read_then).filter(|&read| self.memory.is_news(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use proptest::prelude::*;

    /// Whose buffer is all window.
    fn new(bytes: u64) -> Receive {
        let settings = config::Tcp { receive_buffer_bytes: bytes, adv_win_scale: Some(63), ..config::Tcp::default() };
        Receive::new(Memory::new(&settings, 1000), bytes)
    }

    proptest! {
        #[test]
        fn every_byte_arrives_once_and_in_order(pieces in prop::collection::vec((0u64..200, 1u64..40), 1..60)) {
            let mut receive = new(1 << 20);
            let mut model = std::collections::BTreeSet::new();
            for (data_offset, len) in pieces {
                let before = receive.next();
                let grew = receive.deliver(data_offset, len);
                model.extend(data_offset..data_offset + len);
                let next = (0..).find(|data_offset| !model.contains(data_offset)).unwrap();
                prop_assert_eq!(receive.next(), next);
                prop_assert_eq!(grew, next > before);
                prop_assert_eq!(receive.out_of_order(), model.iter().filter(|&&data_offset| data_offset >= next).count() as u64);
            }
        }
    }

    #[test]
    fn what_is_held_takes_room_and_the_edge_never_goes_back() {
        let now = Time::from_nanos(7);
        let mut receive = new(10_000);
        assert_eq!(receive.tell(receive.room(now)), 10_000);
        receive.deliver(4_000, 2_000);
        receive.deliver(0, 1_000);
        assert_eq!(receive.room(now), 7_000);
        assert_eq!(receive.tell(7_000), 9_000, "announced before");
        receive.read(1_000);
        assert_eq!(receive.room(now), 8_000);
        receive.deliver(1_000, 3_000);
        receive.came(now, 3_000);
        receive.read(u64::MAX);
        assert_eq!(receive.room(now), 7_000, "the ACK leaves before the application reads");
        assert_eq!(receive.room(Time::MAX), 10_000);
        assert_eq!(receive.tell(4_500), 4_500);
    }

    // 77578 is what Linux 6.18 announced with 128 kB where a segment of 1428 bytes waited to be read.
    #[test]
    fn what_is_held_takes_the_memory_of_its_segments() {
        let settings = config::Tcp { receive_buffer_bytes: 128_000, ..config::Tcp::default() };
        let mut memory = Memory::new(&settings, 1460);
        memory.measure(1428);
        let mut receive = Receive::new(memory, 79_000);
        receive.take_in(0, 1_428);
        assert_eq!(receive.room(Time::MAX), 77_578);
        receive.read(u64::MAX);
        assert_eq!(receive.room(Time::MAX), 79_000);
        for data_offset in (10_000..11_000).step_by(100) {
            receive.take_in(data_offset, 100);
        }
        assert_eq!(receive.room(Time::MAX), 73_865, "832 bytes each");
        receive.take_in(9_900, 1_100);
        assert_eq!(receive.room(Time::MAX), 77_578, "one covers them");
    }

    // What `ss -m` showed with Linux 6.18 and TUN devices where 20 messages of a length waited to be read, one after the other.
    #[test]
    fn what_follows_is_copied_into_what_a_segment_leaves() {
        let settings = config::Tcp { receive_buffer_bytes: 128_000, ..config::Tcp::default() };
        for (len, bytes) in [
            (50, 8_320),
            (100, 16_640),
            (150, 8_960),
            (200, 12_800),
            (400, 25_600),
            (500, 25_600),
            (700, 23_040),
            (1_000, 46_080),
            (1_428, 46_080),
        ] {
            let mut receive = Receive::new(Memory::new(&settings, 1460), 79_000);
            for n in 0..20 {
                receive.take_in(len * n, len);
            }
            assert_eq!(receive.held.bytes(), bytes, "{len} bytes");
            receive.read(u64::MAX);
            assert_eq!(receive.held.bytes(), 0);
        }
    }

    #[test]
    fn what_does_not_follow_takes_memory_of_its_own() {
        let settings = config::Tcp { receive_buffer_bytes: 128_000, ..config::Tcp::default() };
        let mut receive = Receive::new(Memory::new(&settings, 1460), 79_000);
        for (data_offset, len, bytes) in [
            (10_000, 150, 1_280),
            (10_200, 150, 2_560), // behind a hole
            (9_850, 150, 3_840),  // before
            (10_150, 50, 3_840),  // follows
            (10_300, 150, 5_120), // overlaps
        ] {
            receive.take_in(data_offset, len);
            assert_eq!(receive.held.bytes(), bytes, "{data_offset}");
        }
    }

    #[test]
    fn what_ends_beyond_the_edge_is_thrown_away_unless_it_is_in_order() {
        let mut receive = new(10_000);
        receive.deliver(9_000, 1_001);
        assert_eq!(receive.out_of_order(), 0, "whole, as mptcp_data_queue_ofo does");
        receive.deliver(9_000, 1_000);
        assert_eq!(receive.out_of_order(), 1_000);
        receive.deliver(0, 10_500);
        assert_eq!(receive.next(), 10_500);
    }

    #[test]
    fn rounds_that_read_more_are_news() {
        let (rtt, at) = (Some(50), |ns| Time::from_nanos(ns));
        let mut receive = new(64_000);
        for (ns, bytes, expected) in
            [(0, 5_000, None), (20, 20_000, None), (50, 1_000, Some(26_000)), (60, 9_000, None)]
        {
            receive.deliver(receive.next(), bytes);
            receive.read(u64::MAX);
            assert_eq!(receive.read_in_round(at(ns), rtt), expected);
        }
        assert_eq!(receive.read_in_round(at(100), rtt), None, "no more than a first window");
    }

    // A capture of Linux 6.18: of messages of 510 bytes every 30 ms, the 128th, with which 65 kB have come, lets the window grow.
    #[test]
    fn a_round_begins_before_its_length_is_known() {
        let at = |ms: i64| Time::from_nanos(1_000_000 * ms);
        let mut receive = new(64_000);
        for n in 0..127 {
            receive.deliver(receive.next(), 510);
            receive.read(u64::MAX);
            assert_eq!(receive.read_in_round(at(30 * n), None), None);
        }
        receive.deliver(receive.next(), 510);
        receive.read(u64::MAX);
        assert_eq!(receive.read_in_round(at(3810), Some(3_810_000_000)), Some(65_280));
    }

    #[test]
    fn the_end_takes_a_place() {
        let mut receive = new(10_000);
        receive.end_at(100);
        receive.deliver(0, 50);
        assert_eq!((receive.acknowledged(), receive.finished()), (50, false));
        receive.deliver(50, 50);
        assert_eq!((receive.acknowledged(), receive.finished()), (101, true));
    }

    #[test]
    fn behind_the_end_is_nothing() {
        let mut receive = new(10_000);
        receive.deliver(50, 100);
        receive.deliver(200, 100);
        receive.end_at(120);
        receive.deliver(110, 100);
        assert_eq!(receive.out_of_order(), 70);
        receive.deliver(0, 50);
        assert_eq!((receive.next(), receive.out_of_order(), receive.finished()), (120, 0, true));
        receive.deliver(120, 10);
        assert_eq!(receive.readable(), 120);
    }
}
