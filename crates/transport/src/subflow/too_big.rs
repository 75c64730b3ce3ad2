//! A router could not forward a segment (RFC 1191 §6.4, RFC 8201 §5.4, RFC 5927 §4.1 and §7).

use super::state::{State, Subflow};
use super::{Control, Piece};
use wire::seq;

/// No router asks for less (RFC 8200 §5); who seems to is not believed.
const LEAST_V6_BYTES: u32 = 1280;
/// What Linux believes at least (`ip_rt_min_pmtu`).
const LEAST_V4_BYTES: u32 = 552;

impl Subflow {
    /// A segment that begins at `seq` is larger than the `mtu_bytes` that packets may have on the way. What is not in
    /// flight was never sent by us, and says nothing. Segments become smaller, those in flight that are too big are cut and
    /// sent again; that is no congestion, so the window stays (RFC 1191 §6.4).
    pub fn too_big(&mut self, seq: u32, mtu_bytes: u32, control: &mut Control) {
        let ahead = i64::from(seq::diff(seq, self.isn.wrapping_add(self.acked as u32)));
        if self.state <= State::SynReceived || ahead < 0 || ahead >= (self.next - self.acked) as i64 {
            return;
        }
        let (least, headers) = if self.remote.is_ipv4() { (LEAST_V4_BYTES, 40) } else { (LEAST_V6_BYTES, 60) };
        if !self.segment_size.shrink(mtu_bytes.max(least) - headers) {
            return;
        }
        let mss_bytes = self.mss_bytes();
        control.windows[control.index].mss_bytes = mss_bytes;
        self.queue.cut(mss_bytes);
        if self.flight.cut(mss_bytes) {
            self.recovery.send_again(self.next);
            self.undo.forget();
            self.tlp.forget();
            self.timers.await_retransmission();
        }
    }
}

/// A piece in pieces of at most so many bytes.
pub(crate) fn cut(piece: Piece, most_bytes: u32) -> impl Iterator<Item = Piece> {
    let count = piece.len.div_ceil(most_bytes).max(1);
    (0..count).map(move |number| {
        let start = number * most_bytes;
        Piece {
            data_offset: piece.data_offset + u64::from(start),
            len: (piece.len - start).min(most_bytes),
            data_fin: piece.data_fin && number + 1 == count,
            push: piece.push && number + 1 == count,
        }
    })
}
