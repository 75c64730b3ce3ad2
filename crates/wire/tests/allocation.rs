//! Parsing allocates nothing.

#![expect(unsafe_code, reason = "an allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use wire::mptcp::{DataNumber, Dss, Mapping, Mptcp};
use wire::{Flags, Frame, Ip, L4, Options, Payload, Tcp, TcpOption};

thread_local! {
    static ALLOCATIONS: Cell<u32> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations by this thread while `work` runs.
fn count(work: impl FnOnce()) -> u32 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

fn data_segment() -> Vec<u8> {
    let mut options = Options::NONE;
    let mapping = Mapping { data_seq: DataNumber::Long(1), subflow_seq: 1, len: 100, checksum: None };
    let dss = Dss { data_ack: Some(DataNumber::Long(2)), mapping: Some(mapping), data_fin: true };
    options.push(&TcpOption::Timestamps { value: 1, echo: 2 }).unwrap();
    options.push(&TcpOption::Mptcp(Mptcp::Dss(dss))).unwrap();
    let (source, destination) = ("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap());
    let ip = Ip { source, destination, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None };
    let tcp =
        Tcp { source_port: 1, destination_port: 2, seq: 3, ack: 4, flags: Flags::ACK, window: 5, urgent: 0, options };
    let mut packet = Vec::new();
    Frame { ip, l4: L4::Tcp(tcp), payload: Payload::unsaid(100) }.emit(&[0; 100], &mut packet).unwrap();
    packet
}

fn walk(packet: &[u8]) {
    if let Ok(Frame { l4: L4::Tcp(tcp), .. }) = black_box(Frame::parse(packet, packet.len() as u32)) {
        tcp.options.iter().for_each(|option| _ = black_box(option));
    }
}

#[test]
fn the_counter_counts() {
    assert_eq!(count(|| _ = black_box(vec![1])), 1);
}

#[test]
fn parsing_allocates_nothing() {
    // Every prefix, and every value of every byte of the headers: the ways of failing are to be free of charge too.
    let mut packet = data_segment();
    let allocated = count(|| {
        for len in 0..packet.len() {
            walk(&packet[..len]);
        }
        for at in 0..100 {
            let kept = packet[at];
            for value in 0..=255 {
                packet[at] = value;
                walk(&packet);
            }
            packet[at] = kept;
        }
    });
    assert_eq!(allocated, 0);
}
