use crate::device::pool;
use std::sync::Arc;
use wire::{Body, Flags, Frame, L4, Original, Packet};

/// Cuts a GSO packet into packets of `size` bytes of payload, as the kernel's software does (`tcp_gso_segment`,
/// `__udp_gso_segment`): sequence number and IPv4 identification count on, CWR is the first's, FIN and PSH are the
/// last's, options are everyone's. The packets share its memory.
pub(crate) fn split(original: &Arc<Original>, frame: &Frame, size: u16, each: &mut dyn FnMut(Box<Packet>)) {
    let (start, end) = (original.headers().len(), original.bytes().len());
    let size = usize::from(size);
    let mut at = start;
    let mut id = frame.ip.id;
    loop {
        let piece = at..end.min(at + size);
        let (is_first, is_last) = (at == start, piece.end == end);
        let mut packet = pool::take();
        packet.frame = *frame;
        packet.frame.payload.len = piece.len() as u32;
        packet.frame.ip.id = id;
        if let L4::Tcp(tcp) = &mut packet.frame.l4 {
            tcp.seq = tcp.seq.wrapping_add((at - start) as u32);
            if !is_first {
                tcp.flags.0 &= !Flags::CWR.0;
            }
            if !is_last {
                tcp.flags.0 &= !(Flags::FIN.0 | Flags::PSH.0);
            }
        }
        at = piece.end;
        packet.body = Some(Body::part(original, piece));
        each(packet);
        if is_last {
            return;
        }
        if frame.ip.source.is_ipv4() {
            id = id.wrapping_add(1);
        }
    }
}
