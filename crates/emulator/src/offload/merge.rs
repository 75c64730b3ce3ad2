use super::header::{Header, Kind, Segments};
use std::io::IoSlice;
use std::sync::Arc;
use wire::{Body, Content, Flags, L4, Original, Packet, Tcp};

/// Most that the length field of an IP header can say.
const MAX_BYTES: u32 = u16::MAX as u32;
/// Most datagrams that the kernel puts into one frame (`UDP_MAX_SEGMENTS` of older ones).
const MAX_DATAGRAMS: u32 = 64;

/// Packets in a row that are one GSO packet: cutting it gives just them again.
pub(crate) struct Group<'a> {
    packets: &'a [Box<Packet>],
    payload: u32,
}

impl<'a> Group<'a> {
    /// As many of the first packets as can be merged, at least one. `datagrams` says whether the kernel takes those of
    /// UDP merged.
    pub fn first_of(packets: &'a [Box<Packet>], datagrams: bool) -> Group<'a> {
        let first = &*packets[0];
        let (mut count, mut payload) = (1, first.frame.payload.len);
        if let Some(original) = mergeable(first, datagrams) {
            let is_tcp = matches!(first.frame.l4, L4::Tcp(_));
            let room = MAX_BYTES - original.headers().len() as u32;
            let mut last = first;
            for next in &packets[1..] {
                let is_full = !is_tcp && count == MAX_DATAGRAMS || payload + next.frame.payload.len > room;
                if is_full || ends(last, first) || !follows(next, first, original, count, payload) {
                    break;
                }
                payload += next.frame.payload.len;
                count += 1;
                last = next;
            }
        }
        Group { packets: &packets[..count as usize], payload }
    }

    /// A packet alone.
    pub fn of_one(packets: &'a [Box<Packet>]) -> Group<'a> {
        Group { packets: &packets[..1], payload: packets[0].frame.payload.len }
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// The first of them.
    pub fn first(&self) -> &'a Packet {
        &self.packets[0]
    }

    /// Whether the payload of the first is in its body, all of it; that of the others is.
    pub fn has_all_bytes(&self) -> bool {
        let packet = self.first();
        packet.payload().len() == packet.frame.payload.len as usize
    }

    /// The frame, its headers appended to `headers`, its payload to `payload`; [`None`] when it cannot be written.
    pub fn write(&self, headers: &mut Vec<u8>, payload: &mut Vec<IoSlice<'a>>) -> Option<Header> {
        let start = headers.len();
        let (first, last) = (&*self.packets[0], &*self.packets[self.packets.len() - 1]);
        let mut segments = None;
        let unsummed = if self.packets.len() == 1 {
            first.emit_headers(headers)
        } else {
            let kind = kind(first);
            let mut whole = first.clone();
            whole.frame.payload.len = self.payload;
            let mut has_cwr = false;
            if let (L4::Tcp(tcp), L4::Tcp(last)) = (&mut whole.frame.l4, &last.frame.l4) {
                tcp.flags.0 |= last.flags.0;
                has_cwr = tcp.flags.has(Flags::CWR);
            }
            segments = Some(Segments { kind, size: first.frame.payload.len as u16, has_cwr });
            whole.emit_headers(headers)
        };
        self.slices(payload);
        Some(Header { unsummed: unsummed.ok()?, segments, headers: (headers.len() - start) as u16 })
    }

    /// What says of a single segment that it is to be cut one byte before its end; [`None`] if it is none.
    pub fn nearly_whole(&self) -> Option<Segments> {
        let L4::Tcp(tcp) = &self.first().frame.l4 else { return None };
        let size = u16::try_from(self.payload).ok()?.checked_sub(1).filter(|&size| size > 0)?;
        (self.packets.len() == 1).then(|| Segments {
            kind: kind(self.first()),
            size,
            has_cwr: tcp.flags.has(Flags::CWR),
        })
    }

    /// Payloads that lie one behind the other are one slice.
    fn slices(&self, slices: &mut Vec<IoSlice<'a>>) {
        let mut bodies = self.packets.iter().filter_map(|packet| packet.body.as_ref());
        let Some(mut run) = bodies.next().map(Run::of) else { return };
        for body in bodies {
            let next = Run::of(body);
            if Arc::ptr_eq(run.original, next.original) && run.end == next.start {
                run.end = next.end;
            } else {
                slices.push(run.slice());
                run = next;
            }
        }
        slices.push(run.slice());
    }
}

fn kind(packet: &Packet) -> Kind {
    match (&packet.frame.l4, packet.frame.ip.source.is_ipv4()) {
        (L4::Tcp(_), true) => Kind::Tcp4,
        (L4::Tcp(_), false) => Kind::Tcp6,
        _ => Kind::Udp,
    }
}

struct Run<'a> {
    original: &'a Arc<Original>,
    start: usize,
    end: usize,
}

impl<'a> Run<'a> {
    fn of(body: &'a Body) -> Run<'a> {
        let range = body.range();
        Run { original: body.original(), start: range.start, end: range.end }
    }

    fn slice(&self) -> IoSlice<'a> {
        IoSlice::new(&self.original.bytes()[self.start..self.end])
    }
}

/// What it came from, if it can be a part of a GSO packet: it has payload, all of it there, and a checksum that is the
/// kernel's to make.
fn mergeable(packet: &Packet, datagrams: bool) -> Option<&Arc<Original>> {
    let body = packet.body.as_ref()?;
    let original = body.original();
    let is_kind = match &packet.frame.l4 {
        L4::Tcp(tcp) => {
            const MAY: u8 = Flags::ACK.0 | Flags::ECE.0 | Flags::CWR.0 | Flags::PSH.0 | Flags::FIN.0;
            tcp.flags.has(Flags::ACK) && tcp.flags.0 & !MAY == 0
        }
        L4::Udp { .. } => datagrams,
        _ => false,
    };
    let is_there = body.len() == packet.frame.payload.len as usize && packet.frame.payload.content == Content::Unsaid;
    let is_first = is_kind && is_there && !body.is_empty() && !original.headers().is_empty();
    (is_first && !original.is_summed() && packet.frame.ip.fragment.is_none()).then_some(original)
}

/// Whether nothing can come behind it.
fn ends(last: &Packet, first: &Packet) -> bool {
    let flags = match &last.frame.l4 {
        L4::Tcp(tcp) => tcp.flags.0 & (Flags::PSH.0 | Flags::FIN.0),
        _ => 0,
    };
    flags != 0 || last.frame.payload.len < first.frame.payload.len
}

/// Whether `next` is what cutting gives after `count` packets with `payload` bytes in all.
fn follows(next: &Packet, first: &Packet, original: &Arc<Original>, count: u32, payload: u32) -> bool {
    let Some(other) = mergeable(next, true) else { return false };
    let (ip, mut expected) = (&next.frame.ip, first.frame.ip);
    if expected.source.is_ipv4() {
        expected.id = expected.id.wrapping_add(count as u16);
    }
    let is_transport = match (&next.frame.l4, &first.frame.l4) {
        (L4::Tcp(next), L4::Tcp(first)) => {
            let mut next = Tcp { seq: next.seq.wrapping_sub(payload), ..*next };
            let has_cwr = next.flags.has(Flags::CWR);
            next.flags.0 = next.flags.0 & !(Flags::PSH.0 | Flags::FIN.0) | first.flags.0 & Flags::CWR.0;
            !has_cwr && next == *first
        }
        (next, first) => next == first,
    };
    let len = next.frame.payload.len;
    len <= first.frame.payload.len && is_transport && *ip == expected && is_alike(original, other)
}

/// Whether the headers are the same where a frame does not tell.
fn is_alike(one: &Arc<Original>, other: &Arc<Original>) -> bool {
    if Arc::ptr_eq(one, other) {
        return true;
    }
    let (one, other) = (one.headers(), other.headers());
    // IP options and extension headers are not worth the comparison.
    let (plain, network) = match one[0] {
        0x45 => (other[0] == 0x45 && (one[6] ^ other[6]) & 0x80 == 0, 20),
        _ => (one[..4] == other[..4] && one[6] == other[6] && matches!(one[6], 6 | 17), 40),
    };
    let is_tcp = one[if network == 20 { 9 } else { 6 }] == 6;
    let reserved = |headers: &[u8]| headers.get(network + 12).map_or(0, |byte| byte & 0x0f);
    plain && (!is_tcp || reserved(one) == reserved(other))
}
