//! A datagram's payload is QUIC or not, and neither what is read nor what is kept of it depends on what follows.

use wire::quic::Quic;
use wire::{Frame, Ip, L4, Payload};

/// The payload of a datagram.
pub fn check(data: &[u8]) {
    if let Ok(header) = Quic::parse(data) {
        let len = header.header_len();
        assert!(len <= data.len());
        if let Quic::Long { destination, source, .. } = header {
            assert!(destination.len() <= Quic::MOST_ID && source.len() <= Quic::MOST_ID);
            assert_eq!(Quic::parse(&data[..len]), Ok(header));
            (0..len).for_each(|cut| assert!(Quic::parse(&data[..cut]).is_err()));
        }
    }
    let address = [10, 0, 0, 1].into();
    let ip = Ip { source: address, destination: address, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None };
    let frame = Frame { ip, l4: L4::udp(1, 443), payload: Payload::unsaid(data.len() as u32) };
    let mut bytes = Vec::new();
    if frame.emit(data, &mut bytes).is_err() {
        return;
    }
    let wire_len = bytes.len() as u32;
    let seen = |captured: usize| {
        let mut frame = Frame::parse(&bytes[..captured], wire_len).expect("its headers are there");
        frame.look(&bytes[..captured], wire_len);
        let L4::Udp { glimpse, .. } = frame.l4 else { panic!("a datagram") };
        glimpse
    };
    let headers = bytes.len() - data.len();
    let whole = seen(bytes.len());
    assert_eq!(whole.bytes(), &data[..data.len().min(whole.bytes().len())]);
    assert_eq!(seen(bytes.len().min(headers + 64)), whole);
}
