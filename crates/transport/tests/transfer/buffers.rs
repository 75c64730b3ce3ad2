//! Windows that receivers tell, and buffers of subflows.

use crate::complete;
use crate::pair::{Act, End, Pair, meshed, tcp};
use transport::config::ReceiveBuffer;
use transport::{Config, Nic};
use wire::{Flags, TcpOption, Time};

/// Windows that the server tells after its SYN, each with the segments of data that it has had by then at most.
fn windows(pair: &Pair) -> Vec<(u64, u64)> {
    let mut shift = 0;
    let mut segments = 0;
    let mut windows = Vec::new();
    for (_, end, _, packet) in &pair.log {
        let header = tcp(packet);
        let scale = (&header.options).into_iter().find_map(|option| match option {
            Ok(TcpOption::WindowScale(shift)) => Some(shift),
            _ => None,
        });
        match end {
            End::Client => segments += u64::from(packet.frame.payload.len > 0),
            End::Server if header.flags.has(Flags::SYN) => shift = scale.unwrap_or(0),
            End::Server => windows.push((u64::from(header.window) << shift, segments)),
        }
    }
    windows
}

fn upload(change: impl Fn(&mut Config)) -> Pair {
    let mut config = meshed();
    change(&mut config);
    let mut pair = Pair::new(config.clone(), config, &[50, 50]);
    pair.to_write = [3_000_000, 0];
    pair.run(60_000);
    assert_eq!(pair.seen[1].read, 3_000_000);
    pair
}

#[test]
fn tuned_windows_grow_by_two_segments_with_each() {
    for kind in [ReceiveBuffer::Shared, ReceiveBuffer::PerSubflow] {
        let windows = windows(&upload(|config| config.mptcp.receive_buffer = kind));
        for (window, segments) in &windows {
            assert!(*window <= 65_535 + 2 * 1448 * segments, "{window} after {segments}");
        }
        assert!(windows.iter().any(|(window, _)| *window > 1_000_000));
    }
}

#[test]
fn windows_are_what_memory_leaves_of_the_buffer() {
    // net/ipv4/tcp_output.c, __tcp_select_window: 1420 bytes of 2304 that a segment occupies, in parts of 256, with one that
    // waits to be read; in units of four bytes.
    let windows_with = |change: &dyn Fn(&mut Config)| windows(&upload(change)).into_iter().map(|(window, _)| window);
    let bytes = 200_000;
    let whole = (bytes - 2304) * 157 / 256;
    let tuned = windows_with(&|config| {
        (config.tcp.receive_buffer_bytes, config.tcp.max_receive_buffer_bytes) = (131_072, bytes);
    });
    let fixed = windows_with(&|config| {
        (config.tcp.receive_buffer_bytes, config.tcp.max_receive_buffer_bytes) = (bytes, bytes);
        config.tcp.receive_buffer_tuning = false;
    });
    for windows in [tuned.max(), fixed.max()] {
        assert!(windows.is_some_and(|most| (whole - 1420..whole + 1420).contains(&most)), "{windows:?} of {whole}");
    }
}

/// Windows that a client says on a path of 60 ms each way, once one of 10 ms by which it began is gone.
fn windows_by_the_second(max_receive_buffer_bytes: u64) -> Vec<u64> {
    let mut config = meshed();
    config.mptcp.scheduler = "linux".into();
    (config.tcp.receive_buffer_bytes, config.tcp.max_receive_buffer_bytes) = (131_072, max_receive_buffer_bytes);
    let mut pair = Pair::new(config.clone(), config, &[10, 60]);
    pair.to_write = [0, 6_000_000];
    pair.acts = vec![(Time::from_nanos(1_000_000_000), Act::Down(0))];
    pair.run(60_000);
    let is_late = |at: Time| at > Time::from_nanos(1_500_000_000);
    let (mut shift, mut windows) = (0, Vec::new());
    for (at, end, nic, packet) in &pair.log {
        let header = tcp(packet);
        if (*end, *nic) != (End::Client, Nic(1)) {
            continue;
        }
        let scales = |option| if let Ok(TcpOption::WindowScale(shift)) = option { Some(shift) } else { None };
        shift = (&header.options).into_iter().find_map(scales).unwrap_or(shift);
        windows.extend((is_late(*at) && !header.flags.has(Flags::FIN)).then_some(u64::from(header.window) << shift));
    }
    windows
}

#[test]
fn a_subflow_that_joins_once_the_buffer_has_grown_keeps_its_first_one() {
    // Of a buffer tuned to 512 kB Linux 6.18 made all in the first 120 ms, and the window of a subflow that was joining meanwhile was
    // never wider than 80 kB of its own, in four captures of four: net/mptcp/protocol.c, mptcp_rcv_space_adjust, passes over what
    // is not established yet.
    let windows = windows_by_the_second(524_288);
    let widest = windows[windows.len() / 2..].iter().max().copied();
    assert!(widest.is_some_and(|widest| (70_000..=82_000).contains(&widest)), "{widest:?}");
}

/// A download whose second path goes silent for good after so long, with a receive buffer of each subflow or one for both.
fn download_with_a_loss(receive_buffer: ReceiveBuffer, lost_ms: Option<i64>) -> Pair {
    let mut config = meshed();
    config.mptcp.receive_buffer = receive_buffer;
    config.tcp.receive_buffer_bytes = 20_000;
    config.tcp.receive_buffer_tuning = false;
    let mut pair = Pair::new(config.clone(), config, &[10, 40]);
    pair.to_write = [0, 1_000_000];
    let lost = lost_ms.map_or(Time::MAX, |ms| Time::from_nanos(ms * 1_000_000));
    pair.middle = Box::new(move |now, _, nic, _| if nic.0 == 1 && now >= lost { vec![] } else { vec![0] });
    pair.run(300_000);
    pair
}

#[test]
fn buffers_of_subflows_carry_data_and_may_stand_still_when_a_path_goes() {
    complete(&download_with_a_loss(ReceiveBuffer::PerSubflow, None), 1_000_000, 0);
    let shared = download_with_a_loss(ReceiveBuffer::Shared, Some(300));
    assert!(shared.seen[0].read == 1_000_000 && shared.seen[0].finished, "{:?}", shared.seen[0]);
    // What the lost path held has no room on the other, whose buffer is full of what comes after: Raiciu et al., "How hard
    // can it be?", NSDI 2012, §3.3.
    let stuck = download_with_a_loss(ReceiveBuffer::PerSubflow, Some(300));
    assert!(stuck.seen[0].read < 1_000_000 && !stuck.seen[0].finished, "{:?}", stuck.seen[0]);
}
