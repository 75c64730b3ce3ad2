//! Captures, whatever their bytes, are made fit to publish: packet for packet, and with no payload.

use std::io::Cursor;

use anonymise::{Anonymiser, Failure, Secret};
use capture::{Network, Packet, Reader};
use wire::{Frame, L4};

/// What must stay of a packet, and how much payload is there.
fn described(packet: &Packet) -> (u64, u32, Option<Described>) {
    let frame = match packet.network() {
        Network::Ip { offset, .. } => Frame::parse(&packet.data[offset..], packet.original_len - offset as u32).ok(),
        _ => None,
    };
    (packet.record, packet.original_len, frame.map(|frame| Described::of(&frame)))
}

#[derive(Debug, PartialEq, Eq)]
struct Described {
    is_v4: bool,
    /// Ports, sequence numbers and control bits of a segment.
    segment: Option<(u16, u16, u32, u32, u8)>,
    payload_bytes: u32,
}

impl Described {
    fn of(frame: &Frame) -> Described {
        let segment = match &frame.l4 {
            L4::Tcp(tcp) => Some((tcp.source_port, tcp.destination_port, tcp.seq, tcp.ack, tcp.flags.0)),
            _ => None,
        };
        Described { is_v4: frame.ip.source.is_ipv4(), segment, payload_bytes: frame.payload.len }
    }
}

/// Any bytes will do.
pub fn check(data: &[u8]) {
    let Some(written) = anonymised(data) else { return };
    assert_eq!(Some(&written), anonymised(data).as_ref(), "the same secret makes the same");
    let mut before = Reader::new("before", Cursor::new(data.to_vec())).expect("it was read");
    let mut after = Reader::new("after", Cursor::new(written)).expect("what was written can be read");
    while let Ok(Some(packet)) = before.next() {
        let was = described(&packet);
        let packet = after.next().expect("what was written can be read").expect("as many packets as before");
        let is = described(&packet);
        assert_eq!((is.0, is.1), (was.0, was.1));
        if was.2.is_none() {
            // What could not be read is emptied, after which it may be readable.
            continue;
        }
        assert_eq!(is.2, was.2);
        if let Network::Ip { offset, .. } = packet.network()
            && let Ok(frame) = Frame::parse(&packet.data[offset..], packet.original_len - offset as u32)
        {
            let headers = said_len(&packet.data[offset..], frame.ip.source.is_ipv4())
                .unwrap_or(packet.original_len as usize - offset)
                - frame.payload.len as usize;
            assert!(packet.data.len() <= offset + headers, "{headers} bytes of headers, {:?}", frame.payload);
        }
    }
    assert!(after.next().expect("what was written can be read").is_none());
}

/// How long an IP packet says that it is; none where it leaves that to who carries it (a jumbogram, merged segments).
fn said_len(packet: &[u8], is_v4: bool) -> Option<usize> {
    let (at, before) = if is_v4 { (2, 0) } else { (4, 40) };
    let said = usize::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
    (said > 0).then_some(before + said)
}

fn anonymised(data: &[u8]) -> Option<Vec<u8>> {
    let capture = || Reader::new("fuzz", Cursor::new(data.to_vec()));
    let mut all = Anonymiser::new(Secret::new(b"a secret of the fuzzer"));
    match all.learn(capture().ok()?, || true) {
        Ok(()) => {}
        Err(Failure::Read(_)) => return None,
        Err(failure) => panic!("{failure:?}"),
    }
    let mut written = Vec::new();
    all.write(capture().ok()?, &mut written, || true).expect("what was learnt can be written");
    Some(written)
}
