//! Memory for what comes in, as Linux reckons with it: what part of a buffer is window, as packets occupy more than their
//! data, and how far a buffer grows.

use crate::config;

/// A receive buffer.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// sk_rcvbuf.
    bytes: u64,
    /// Most that it becomes: tcp_rmem\[2].
    most: u64,
    tuning: bool,
    share: Share,
    /// The window that all of it makes, which is asked for more often than it changes.
    window: u64,
    /// No window is wider: window_clamp.
    clamp: u64,
    /// Most bytes that were read in a round trip (rcvq_space.space).
    read: u64,
}

/// What part of memory is window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    /// All but this binary fraction: tcp_adv_win_scale.
    Fixed(u32),
    /// So many of 256, as the peer's segments show (include/net/tcp.h, tcp_scaling_ratio; since Linux 6.6).
    Measured(u64),
}

/// TCP_DEFAULT_SCALING_RATIO: half, before a segment came.
const UNKNOWN: Share = Share::Measured(128);
/// TCP_INIT_CWND: what is read in the first round trip is no news up to that.
const FIRST_SEGMENTS: u64 = 10;

impl Memory {
    /// The buffer that a socket begins with, of one whose peer's segments are at most `mss_bytes` long.
    pub fn new(settings: &config::Tcp, mss_bytes: u32) -> Memory {
        let bytes = settings.receive_buffer_bytes;
        let mut memory = Memory {
            bytes,
            most: settings.max_receive_buffer_bytes.max(bytes),
            tuning: settings.receive_buffer_tuning,
            share: settings.adv_win_scale.map_or(UNKNOWN, Share::Fixed),
            window: 0,
            clamp: 0,
            read: 0,
        };
        memory.reckon();
        memory.clamp = memory.window().saturating_sub(u64::from(mss_bytes)).max(2 * u64::from(mss_bytes));
        memory.read = memory.first_window(mss_bytes).min(FIRST_SEGMENTS * u64::from(mss_bytes)).max(1);
        memory
    }

    /// Bytes of it.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The window that it begins with (net/ipv4/tcp_output.c, tcp_select_initial_window).
    pub fn first_window(&self, mss_bytes: u32) -> u64 {
        let mss_bytes = u64::from(mss_bytes.max(1));
        let window = self.window();
        if window > mss_bytes { window - window % mss_bytes } else { window }
    }

    /// The window that all of it makes (tcp_full_space).
    #[inline]
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The window that it may make: at first a segment less than all of it (net/ipv4/tcp_input.c, tcp_init_buffer_space), from when
    /// its size or share changes all.
    #[inline]
    pub fn clamp(&self) -> u64 {
        self.clamp
    }

    /// To be called when its size or share changes.
    fn reckon(&mut self) {
        self.window = self.window_from(self.bytes);
        self.clamp = self.window;
    }

    /// The window that it makes at most.
    pub fn most_window(&self) -> u64 {
        self.window_from(self.most)
    }

    /// tcp_win_from_space
    pub fn window_from(&self, bytes: u64) -> u64 {
        match self.share {
            Share::Fixed(scale) => bytes - (bytes >> scale.min(63)),
            Share::Measured(parts) => bytes.saturating_mul(parts) >> 8,
        }
    }

    /// tcp_space_from_win
    fn bytes_for(&self, window: u64) -> u64 {
        match self.share {
            Share::Fixed(scale) => window.saturating_add(window / ((1 << scale.clamp(1, 62)) - 1)),
            Share::Measured(parts) => window.saturating_mul(256) / parts.max(1),
        }
    }

    /// A longer segment came than any before: what memory it takes says what the window may be (net/ipv4/tcp_input.c,
    /// tcp_measure_rcv_mss). Says whether that is more than it was.
    pub fn measure(&mut self, len: u32) -> bool {
        let Share::Measured(parts) = &mut self.share else { return false };
        let before = std::mem::replace(parts, (256 * u64::from(len) / occupied_bytes(len)).max(1));
        if *parts == before {
            return false;
        }
        let grew = *parts > before;
        self.reckon();
        self.read = self.read.min(self.window().max(1));
        grew
    }

    /// The window of a connection is reckoned by its most wasteful subflow (net/mptcp/protocol.c, mptcp_rcv_space_adjust).
    pub fn share_as(&mut self, subflows: impl Iterator<Item = Memory>) {
        self.share = subflows.map(|memory| memory.share).min_by_key(Share::parts).unwrap_or(self.share);
        self.reckon();
    }

    /// Whether a segment of `len` bytes wastes no more than the window is reckoned with.
    pub fn fits(&self, len: u32) -> bool {
        match self.share {
            // Before Linux 3.2 packets were reckoned without what an allocation rounds up to.
            Share::Fixed(_) => true,
            Share::Measured(_) => self.window_from(occupied_bytes(len)) <= u64::from(len),
        }
    }

    /// What a segment of `len` bytes takes of it, and how much of what follows is copied into what its block has left, and takes
    /// nothing more (net/core/skbuff.c, skb_try_coalesce). Blocks themselves are not put together: those of a TUN device are not
    /// made of pages.
    pub fn taken_by(&self, len: u32) -> (u64, u64) {
        match self.share {
            Share::Fixed(_) => (u64::from(len), 0),
            Share::Measured(_) => {
                let block_bytes = block_bytes(len);
                (block_bytes + SK_BUFF_BYTES, block_bytes - BESIDE_BYTES - u64::from(len))
            }
        }
    }

    /// Whether `bytes` are more than were read in any round trip before.
    pub fn is_news(&self, bytes: u64) -> bool {
        bytes > self.read
    }

    /// Dynamic right-sizing: `read` bytes were read in a round trip; room for twice that and, as the rate grows, for twice
    /// its growth, and for `ahead` bytes that lie behind holes (net/ipv4/tcp_input.c, tcp_rcvbuf_grow;
    /// net/mptcp/protocol.c, mptcp_rcvbuf_grow). Says whether it grew.
    pub fn grow(&mut self, read: u64, ahead: u64) -> bool {
        let before = std::mem::replace(&mut self.read, read.max(1));
        if !self.tuning {
            return false;
        }
        let growth = u128::from(2 * read) * u128::from(read.saturating_sub(before)) / u128::from(before);
        let window = (2 * read).saturating_add((2 * growth).min(u128::from(self.most)) as u64).saturating_add(ahead);
        let bytes = self.bytes_for(window).min(self.most);
        let grew = bytes > self.bytes;
        if grew {
            self.bytes = bytes;
            self.reckon();
        }
        grew
    }

    /// Room for what lies `ahead` bytes behind a hole (tcp_data_queue_ofo).
    pub fn grow_ahead(&mut self, ahead: u64) {
        self.grow(self.read, ahead);
    }
}

impl Share {
    fn parts(&self) -> u64 {
        match self {
            Share::Fixed(scale) => 256 - (256 >> (*scale).min(9)),
            Share::Measured(parts) => *parts,
        }
    }
}

/// What a segment occupies (skb->truesize): a block of memory and its sk_buff. `ss -m` shows 2304 bytes for full segments of
/// 1500-byte packets.
pub fn occupied_bytes(len: u32) -> u64 {
    block_bytes(len) + SK_BUFF_BYTES
}

const SK_BUFF_BYTES: u64 = 256;
/// Beside a segment's data in its block: headers, some room before them, and skb_shared_info.
const BESIDE_BYTES: u64 = 60 + 20 + 64 + 320;

/// The block that a segment lies in (net/core/skbuff.c, kmalloc_reserve): of a power of two, short ones in one of
/// SKB_SMALL_HEAD_CACHE_SIZE.
fn block_bytes(len: u32) -> u64 {
    const SMALL_BYTES: u64 = 576;
    let bytes = u64::from(len) + BESIDE_BYTES;
    if bytes <= SMALL_BYTES { SMALL_BYTES } else { bytes.next_power_of_two() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(bytes: u64) -> Memory {
        let settings =
            config::Tcp { receive_buffer_bytes: bytes, max_receive_buffer_bytes: 6_291_456, ..config::Tcp::default() };
        Memory::new(&settings, 1460)
    }

    // Windows that Linux 6.18 announced with these buffers: first, then of 1448 bytes a segment (plain TCP) and of 1428
    // (MPTCP), one of which waits to be read.
    #[test]
    fn windows_are_those_of_linux() {
        for (bytes, first, plain, multipath) in [
            (128_000, 62_780, 78_560, 77_578),
            (256_000, 127_020, 158_560, 156_578),
            (512_000, 255_500, 318_560, 314_578),
        ] {
            let mut memory = memory(bytes);
            assert_eq!(memory.first_window(1460), first);
            memory.measure(1448);
            assert_eq!(memory.window_from(bytes - occupied_bytes(1448)), plain);
            memory.measure(1428);
            assert_eq!(memory.window_from(bytes - occupied_bytes(1428)), multipath);
        }
    }

    // tcp_rcvbuf_grow: twice what was read, and twice the growth of that.
    #[test]
    fn buffer_grows_with_what_a_round_trip_brings() {
        let mut memory = memory(131_072);
        memory.measure(1448);
        assert!(!memory.is_news(14_600) && memory.is_news(14_601));
        assert!(!memory.grow(20_000, 0), "131 kB are room for that");
        assert!(memory.grow(100_000, 0));
        // 200 kB + 2 × 200 kB × 80/20, of which 160 parts of 256 are window.
        assert_eq!(memory.bytes(), 1_800_000 * 256 / 160);
        assert!(!memory.grow(110_000, 0));
        assert!(memory.grow(1_000_000, 0));
        assert_eq!(memory.bytes(), 6_291_456);
    }

    #[test]
    fn a_share_can_be_said() {
        for (scale, window, bytes) in [(1, 50_000, 200_000), (2, 75_000, 133_333), (31, 100_000, 100_000)] {
            let settings =
                config::Tcp { receive_buffer_bytes: 100_000, adv_win_scale: Some(scale), ..config::Tcp::default() };
            let mut memory = Memory::new(&settings, 1460);
            memory.measure(1448);
            assert_eq!((memory.window(), memory.bytes_for(100_000)), (window, bytes));
        }
    }
}
