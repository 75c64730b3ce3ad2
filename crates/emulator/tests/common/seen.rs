//! What captures and sockets saw.

use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;
use wire::{CaptureDirection, Frame, L4, Time};

/// A datagram in a capture.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    pub at: Time,
    pub outbound: bool,
    /// The number that it bears.
    pub number: u64,
    pub frame: Frame,
}

/// Interfaces of a capture with their drops.
pub type Interfaces = Vec<(String, Option<u64>)>;

/// What is in a capture, which must be in order: interfaces, datagrams, how many packets there are. All must be sound.
pub fn capture(path: &Path) -> (Interfaces, Vec<Datagram>, usize) {
    let mut reader = capture::Reader::open(path).unwrap();
    let (mut datagrams, mut packets, mut last) = (Vec::new(), 0, Time::from_nanos(0));
    while let Some(packet) = reader.next().unwrap() {
        assert!(packet.at >= last, "packet {} is older than the one before", packet.record);
        last = packet.at;
        packets += 1;
        let frame = Frame::parse(packet.data, packet.original_len).unwrap();
        assert!(packet.original_len <= 1500, "a GSO packet");
        if let L4::Udp { .. } = frame.l4 {
            let number = u64::from_be_bytes(packet.data[28..36].try_into().unwrap());
            let outbound = packet.direction.unwrap() == CaptureDirection::Outbound;
            datagrams.push(Datagram { at: packet.at, outbound, number, frame });
        }
    }
    assert!(reader.cut().is_none(), "{:?}", reader.cut());
    let interfaces = reader.interfaces().iter().map(|interface| (interface.name.clone(), interface.drops)).collect();
    (interfaces, datagrams, packets)
}

/// Sends datagrams of 100 bytes with the numbers, one each `pause`.
pub fn send(socket: &UdpSocket, to: &str, numbers: std::ops::Range<u64>, pause: Duration) {
    for number in numbers {
        let mut datagram = [0; 100];
        datagram[..8].copy_from_slice(&number.to_be_bytes());
        socket.send_to(&datagram, to).unwrap();
        std::thread::sleep(pause);
    }
}

/// The numbers of datagrams that come until none has come for a second.
pub fn receive(socket: &UdpSocket) -> Vec<(u64, std::net::SocketAddr)> {
    socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut datagram = [0; 2000];
    let mut numbers = Vec::new();
    while let Ok((_, from)) = socket.recv_from(&mut datagram) {
        numbers.push((u64::from_be_bytes(datagram[..8].try_into().unwrap()), from));
    }
    numbers
}
