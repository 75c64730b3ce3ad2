//! The formats, written by hand so that the reader is not tested with its own mistakes.
#![allow(unused_imports, reason = "each test uses a part")]

/// Byte order of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
}

pub use Order::{Big, Little};

impl Order {
    pub fn half(self, value: u16) -> [u8; 2] {
        if self == Big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub fn word(self, value: u32) -> [u8; 4] {
        if self == Big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub fn double(self, value: u64) -> [u8; 8] {
        if self == Big { value.to_be_bytes() } else { value.to_le_bytes() }
    }
}

pub const MICRO: u32 = 0xa1b2_c3d4;
pub const NANO: u32 = 0xa1b2_3c4d;

pub fn pcap_header(order: Order, magic: u32, link_type: u32) -> Vec<u8> {
    let mut bytes = order.word(magic).to_vec();
    bytes.extend(order.half(2));
    bytes.extend(order.half(4));
    for word in [0, 0, 262_144, link_type] {
        bytes.extend(order.word(word));
    }
    bytes
}

pub fn pcap(order: Order, magic: u32, link_type: u32, packets: &[(i64, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = pcap_header(order, magic, link_type);
    for (at, packet) in packets {
        let fraction = at % 1_000_000_000 / if magic == NANO { 1 } else { 1000 };
        for word in [(at / 1_000_000_000) as u32, fraction as u32, packet.len() as u32, packet.len() as u32] {
            bytes.extend(order.word(word));
        }
        bytes.extend(packet);
    }
    bytes
}

/// A pcapng, block by block.
pub struct Pcapng {
    pub order: Order,
    pub bytes: Vec<u8>,
}

impl Pcapng {
    /// Begins with a section header.
    pub fn new(order: Order) -> Pcapng {
        let mut pcapng = Pcapng { order, bytes: Vec::new() };
        pcapng.section(order);
        pcapng
    }

    pub fn section(&mut self, order: Order) -> &mut Self {
        self.order = order;
        let body = [&order.word(0x1a2b_3c4d)[..], &order.half(1), &order.half(0), &[0xff; 8]].concat();
        self.block(0x0a0d_0d0a, &body)
    }

    pub fn block(&mut self, kind: u32, body: &[u8]) -> &mut Self {
        let padded = body.len().next_multiple_of(4);
        let length = self.order.word(padded as u32 + 12);
        self.bytes.extend(self.order.word(kind));
        self.bytes.extend(length);
        self.bytes.extend(body);
        self.bytes.resize(self.bytes.len() + padded - body.len(), 0);
        self.bytes.extend(length);
        self
    }

    pub fn options(&self, options: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (code, value) in options {
            bytes.extend(self.order.half(*code));
            bytes.extend(self.order.half(value.len() as u16));
            bytes.extend(*value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        if !options.is_empty() {
            bytes.extend([0; 4]);
        }
        bytes
    }

    pub fn interface(&mut self, link_type: u16, snap_length: u32, options: &[(u16, &[u8])]) -> &mut Self {
        let order = self.order;
        let body = [&order.half(link_type)[..], &[0, 0], &order.word(snap_length), &self.options(options)].concat();
        self.block(1, &body)
    }

    /// An enhanced packet block.
    pub fn packet(&mut self, interface: u32, ticks: u64, packet: &[u8], options: &[(u16, &[u8])]) -> &mut Self {
        let mut body = Vec::new();
        let length = packet.len() as u32;
        for word in [interface, (ticks >> 32) as u32, ticks as u32, length, length] {
            body.extend(self.order.word(word));
        }
        body.extend(packet);
        body.resize(body.len().next_multiple_of(4), 0);
        body.extend(self.options(options));
        self.block(6, &body)
    }
}

/// One section, one Ethernet interface "eth0" with microseconds.
pub fn pcapng(order: Order, packets: &[(i64, Vec<u8>)]) -> Vec<u8> {
    let mut pcapng = Pcapng::new(order);
    pcapng.interface(1, 0, &[(2, b"eth0")]);
    for (at, packet) in packets {
        pcapng.packet(0, *at as u64 / 1000, packet, &[]);
    }
    pcapng.bytes
}
