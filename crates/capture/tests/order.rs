//! The same packets give the same observations, however they lie in files, as long as these keep their order.

mod common;

use common::bytes::*;
use common::*;
use proptest::prelude::*;

const MS: i64 = 1_000_000;

/// An IP packet at a time, on an interface.
#[derive(Clone, Debug)]
struct Seen {
    at: i64,
    interface: usize,
    packet: Vec<u8>,
}

/// A pcapng of these, its interfaces named "a", "b", "c".
fn file(packets: &[Seen]) -> Vec<u8> {
    file_of(&["a", "b", "c"], packets)
}

fn file_of(interfaces: &[&str], packets: &[Seen]) -> Vec<u8> {
    let mut file = Pcapng::new(Little);
    for name in interfaces {
        file.interface(101, 0, &[(2, name.as_bytes()), (9, &[9])]);
    }
    for Seen { at, interface, packet } in packets {
        file.packet(*interface as u32, *at as u64, packet, &[]);
    }
    file.bytes
}

/// (time, interface, sequence and acknowledgement) in the order in which they are given.
fn order(files: &[Vec<u8>]) -> Vec<(i64, String, String)> {
    let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let mut merge = merge(&files);
    let mut order = Vec::new();
    while let Some(Ok(one)) = merge.next() {
        let one = *one;
        let wire::L4::Tcp(tcp) = one.frame.l4 else { panic!("only TCP was written") };
        let what = format!(
            "{} {} > {} {} {} {}",
            one.frame.ip.source, tcp.source_port, one.frame.ip.destination, tcp.destination_port, tcp.seq, tcp.ack
        );
        order.push((one.at.as_nanos(), merge.points()[one.point.0 as usize].interface.clone(), what));
    }
    order
}

/// Splits by `file_of`, then gives the files in the order that `turn` says.
fn split(packets: &[Seen], file_of: impl Fn(usize, &Seen) -> usize, files: usize, turn: usize) -> Vec<Vec<u8>> {
    let mut parts = vec![Vec::new(); files];
    for (i, seen) in packets.iter().enumerate() {
        parts[file_of(i, seen)].push(seen.clone());
    }
    parts.rotate_left(turn % files);
    parts.iter().map(|part| file(part)).collect()
}

/// A segment and its acknowledgement have one time where the clock steps slowly: the file knows which came first.
#[test]
fn packets_of_one_time_come_by_interface_and_then_as_they_stand() {
    let (low, high) = (([10, 0, 0, 1], 9000), ([10, 0, 0, 2], 80));
    let at = 5 * MS;
    let seen = |interface, packet| Seen { at, interface, packet };
    let before = Seen { at: at - 1, interface: 2, packet: between(high, low, 9, 9) };
    let after = Seen { at: at + 1, interface: 0, packet: between(low, high, 0, 0) };
    let first = [between(high, low, 1, 1), between(low, high, 7, 2), between(high, low, 2, 8)];
    let second = [between(low, high, 5, 1), between(low, high, 4, 1)];
    let of = |packets: &[Vec<u8>], interface| {
        packets.iter().map(|packet| seen(interface, packet.clone())).collect::<Vec<_>>()
    };
    let expected = [vec![before.clone()], of(&first, 0), of(&second, 1), vec![after.clone()]].concat();
    let expected: Vec<_> = expected.iter().flat_map(|one| order(&[file(std::slice::from_ref(one))])).collect();
    // However the interfaces stand to each other in the file.
    for mixed in [[0, 0, 0, 1, 1], [1, 1, 0, 0, 0], [0, 1, 0, 1, 0], [1, 0, 0, 0, 1]] {
        let mut queues = [of(&first, 0).into_iter(), of(&second, 1).into_iter()];
        let mut packets = vec![before.clone()];
        packets.extend(mixed.map(|interface| queues[interface].next().unwrap()));
        packets.push(after.clone());
        assert_eq!(order(&[file(&packets)]), expected, "{mixed:?}");
        for turn in 0..3 {
            assert_eq!(order(&split(&packets, |_, seen| seen.interface, 3, turn)), expected, "{mixed:?}");
        }
    }
}

/// One interface's packets of one time in two files: their order is lost, which is counted; else nothing is.
#[test]
fn an_order_that_is_lost_is_counted() {
    let lost = |files: &[Vec<u8>]| {
        let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
        let mut merge = merge(&files);
        observe(&mut merge);
        merge.statistics().iter().map(|capture| capture.order_lost).sum::<u64>()
    };
    let seen = |at, interface, packet| Seen { at, interface, packet };
    let (data, ack) = (segment(true, 1, 1), segment(false, 1, 101));
    let other = between(([10, 0, 0, 7], 9000), ([10, 0, 0, 2], 80), 1, 1);
    let first = file(&[seen(MS, 0, data.clone())]);
    assert_eq!(lost(&[first.clone(), file(&[seen(MS, 0, ack.clone())])]), 1);
    assert_eq!(lost(&[first.clone(), file(&[seen(MS + 1, 0, ack.clone())])]), 0, "another time");
    assert_eq!(lost(&[first.clone(), file(&[seen(MS, 1, ack.clone())])]), 0, "another interface");
    assert_eq!(lost(&[first.clone(), file(&[seen(MS, 0, other)])]), 0, "another connection");
    assert_eq!(lost(&[first.clone(), first.clone()]), 0, "the same packet");
    assert_eq!(lost(&[file(&[seen(MS, 0, data), seen(MS, 0, ack)])]), 0, "one file");
}

#[test]
fn equal_packets_keep_the_order_of_files_and_records() {
    let same = Seen { at: MS, interface: 0, packet: segment(true, 1, 1) };
    let two = file(&[same.clone(), same]);
    let mut merge = merge(&[&two, &two]);
    let mut given = Vec::new();
    while let Some(Ok(one)) = merge.next() {
        given.push((one.point, one.record));
    }
    let given: Vec<_> = given.iter().map(|&(point, record)| (merge.points()[point.0 as usize].site, record)).collect();
    assert_eq!(given, [(0, 1), (0, 2), (1, 1), (1, 2)]);
}

#[test]
fn files_are_sites_and_their_interfaces_points() {
    let seen = |at, interface| Seen { at, interface, packet: segment(true, 1, 1) };
    let (client, server) = (file(&[seen(1, 1), seen(3, 0), seen(5, 1)]), file(&[seen(2, 0)]));
    let mut merge = merge(&[&client, &server]);
    assert_eq!(observe(&mut merge).len(), 4);
    let points: Vec<_> = merge.points().iter().map(|point| (point.site, point.interface.as_str())).collect();
    assert_eq!(points, [(0, "b"), (0, "a"), (0, "c"), (1, "a"), (1, "b"), (1, "c")]);
}

#[test]
fn what_is_late_by_less_than_the_window_is_put_right_and_the_rest_stands() {
    let seen = |at, seq| Seen { at, interface: 0, packet: segment(true, seq, 1) };
    let packets = [
        seen(100 * MS, 1),
        seen(104 * MS, 4),
        seen(103 * MS, 3),
        seen(101 * MS, 2), // late by 3 ms
        seen(120 * MS, 5),
        seen(105 * MS, 6), // late by 15 ms: stands
        seen(121 * MS, 7),
        seen(20 * MS, 8), // the clock was set
        seen(30 * MS, 10),
        seen(29 * MS, 9),
    ];
    let bytes = file_of(&["a"], &packets);
    let mut merge = merge(&[&bytes]);
    let seqs: Vec<u32> = observe(&mut merge).into_iter().map(|(.., seq)| seq).collect();
    assert_eq!(seqs, (1..=10).collect::<Vec<_>>());
    let found = &merge.statistics()[0];
    // Since the clock was set all stand behind a newer one.
    assert_eq!((found.out_of_order, found.not_reordered, found.out_of_order_most_ns), (6, 4, 101 * MS as u64));
}

/// Packets of two interfaces, as many per second, in blocks: so much of one interface, then the same time of the other.
fn in_blocks(per_second: i64, seconds: i64, block_ns: i64) -> (Vec<Seen>, Vec<Seen>) {
    let count = per_second * seconds;
    let sorted: Vec<_> = (0..count)
        .map(|i| Seen {
            at: 1_700_000_000_000_000_000 + i * 1_000_000_000 / per_second,
            // Five of seven on the second.
            interface: usize::from(i * i % 7 < 3),
            packet: segment(i % 3 > 0, i as u32, 1),
        })
        .collect();
    let mut blocks = sorted.clone();
    // The first of interface 0 begins at once.
    blocks.sort_by_key(|seen| ((seen.at - 1_700_000_000_000_000_000) / block_ns, seen.interface));
    (sorted, blocks)
}

/// `dumpcap -i wlan0 -i wwan0` writes what its interfaces hold in turns, block by block.
#[test]
fn interfaces_that_were_written_in_turns_are_put_in_order() {
    for (per_second, seconds, block_ms) in [(200, 20, 200), (10_000, 5, 200), (60_000, 2, 200), (1_000, 20, 1_900)] {
        let (sorted, blocks) = in_blocks(per_second, seconds, block_ms * MS);
        let (sorted, blocks) = (file_of(&["a", "b"], &sorted), file_of(&["a", "b"], &blocks));
        assert_eq!(
            order(std::slice::from_ref(&blocks)),
            order(std::slice::from_ref(&sorted)),
            "{per_second} per second"
        );
        let statistics = |bytes: &[u8]| {
            let mut merge = merge(&[bytes]);
            observe(&mut merge);
            merge.statistics()[0].clone()
        };
        assert_eq!((statistics(&sorted).out_of_order, statistics(&sorted).not_reordered), (0, 0));
        let found = statistics(&blocks);
        assert_eq!(found.not_reordered, 0, "{per_second} per second");
        // Of the second interface nearly every packet stood behind a newer one.
        let (late, second) = (found.out_of_order, found.packets * 5 / 7);
        assert!((second * 9 / 10..=second + 1).contains(&late), "{late} of {second}");
        assert!((block_ms * 9 / 10 * MS..=block_ms * MS).contains(&(found.out_of_order_most_ns as i64)));
    }
}

#[test]
fn every_packet_that_stays_behind_a_newer_one_is_counted() {
    // Blocks of 5 s are longer than what is read ahead.
    let (_, blocks) = in_blocks(100, 10, 5_000 * MS);
    let second = blocks.iter().filter(|seen| seen.interface == 1).count() as u64;
    let bytes = file_of(&["a", "b"], &blocks);
    let mut merge = merge(&[&bytes]);
    let times: Vec<i64> = observe(&mut merge).into_iter().map(|(at, ..)| at).collect();
    let behind = (1..times.len()).filter(|&i| times[..i].iter().any(|newer| *newer > times[i])).count() as u64;
    let found = &merge.statistics()[0];
    assert_eq!(found.not_reordered, behind);
    assert!(behind <= second && behind * 10 > second * 9, "{behind} of {second}");
}

#[test]
fn a_whole_capture_of_one_time_is_sorted_in_pieces_without_end() {
    let packets: Vec<_> =
        (0..100_000u32).map(|i| Seen { at: MS, interface: 0, packet: segment(true, i ^ 0x3ff, 1) }).collect();
    let given = order(&[file(&packets)]);
    assert_eq!(given.len(), packets.len());
}

/// Packets 0 to 3 ms apart or exactly `ties` of the time, on three interfaces, in order of time.
fn traffic(unique: bool) -> impl Strategy<Value = Vec<Seen>> {
    let gap = if unique { prop_oneof![1..1000i64, 1..3 * MS] } else { prop_oneof![0..2i64, 0..3 * MS] };
    let one = (gap, 0..3usize, 0..3u16, any::<bool>(), 0..50u32, 0..3u32);
    prop::collection::vec(one, 1..400).prop_map(|all| {
        let mut at = 1_700_000_000_000_000_000;
        all.into_iter()
            .map(|(gap, interface, port, from_client, seq, ack)| {
                at += gap;
                let (client, server) = (([10, 0, 0, 1], 4000 + port), ([10, 0, 0, 2], 80));
                let (source, destination) = if from_client { (client, server) } else { (server, client) };
                // Around the place where sequence numbers wrap.
                let packet = between(source, destination, seq.wrapping_sub(25), ack.wrapping_sub(1));
                Seen { at, interface, packet }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn splitting_a_capture_changes_nothing(packets in traffic(true), rule in prop::collection::vec(0..4usize, 400), turn in 0..4usize) {
        let whole = order(&[file(&packets)]);
        let times: Vec<i64> = packets.iter().map(|seen| seen.at).collect();
        prop_assert_eq!(whole.iter().map(|(at, ..)| *at).collect::<Vec<_>>(), times);
        prop_assert_eq!(&order(&split(&packets, |_, seen| seen.interface, 3, turn)), &whole);
        prop_assert_eq!(&order(&split(&packets, |i, _| rule[i], 4, turn)), &whole);
        let middle = packets.len() / 2;
        prop_assert_eq!(&order(&split(&packets, |i, _| usize::from(i >= middle), 2, turn)), &whole);
    }

    #[test]
    fn nor_does_a_file_for_each_interface_where_packets_have_one_time(packets in traffic(false), turn in 0..4usize) {
        let whole = order(&[file(&packets)]);
        prop_assert_eq!(&order(&split(&packets, |_, seen| seen.interface, 3, turn)), &whole);
    }

    #[test]
    fn nor_where_they_stand_a_little_out_of_order(packets in traffic(true), late in prop::collection::vec(0..9_900_000i64, 400)) {
        let mut shuffled = packets.clone();
        let mut positions: Vec<_> = packets.iter().zip(&late).map(|(seen, late)| seen.at + late).enumerate().collect();
        positions.sort_by_key(|(_, position)| *position);
        for (to, (from, _)) in shuffled.iter_mut().zip(&positions) {
            *to = packets[*from].clone();
        }
        prop_assert_eq!(order(&[file(&shuffled)]), order(&[file(&packets)]));
    }

    #[test]
    fn long_captures_come_in_order_whatever_the_batches(gaps in prop::collection::vec(1..40_000i64, 3000..6000), late in prop::collection::vec(0..3_000_000i64, 6000)) {
        let mut at = MS;
        let mut packets: Vec<_> = gaps.iter().enumerate().map(|(i, gap)| { at += gap; (at + late[i], at, i as u32) }).collect();
        packets.sort();
        let packets: Vec<_> = packets.into_iter().map(|(_, at, seq)| Seen { at, interface: 0, packet: segment(true, seq, 1) }).collect();
        let bytes = file(&packets);
        let seqs: Vec<u32> = observe(&mut merge(&[&bytes])).into_iter().map(|(.., seq)| seq).collect();
        prop_assert_eq!(seqs, (0..gaps.len() as u32).collect::<Vec<_>>());
    }
}
