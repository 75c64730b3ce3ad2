//! Two captures of one connection that do not cover the same time, or are not of one connection.

mod script;

use script::*;
use std::fmt::Write;

/// A download: segment `n` leaves at 100 + 10 `n` ms and arrives 30 ms later, if it does; each that does is acknowledged at once.
fn download(segments: u32, lost: &[u32]) -> String {
    let mut text = "
        0|30   client wifi S  0 0 0   mp_capable
        60|30  server wifi SA 0 1 0   mp_capable
        60|90  client wifi A  1 1 0   mp_capable
        70|95  client wifi A  1 1 100 dss(1 1 100, ack 1)
        "
    .to_owned();
    let mut acked = 1;
    for n in 0..segments {
        let (left, seq) = (100 + 10 * n, 1 + 1000 * n);
        let is_lost = lost.contains(&n);
        let arrived = if is_lost { "-".to_owned() } else { (left + 30).to_string() };
        writeln!(text, "{arrived}|{left} server wifi A {seq} 101 1000 dss({seq} {seq} 1000, ack 101)").unwrap();
        // Sent again 60 ms later, as any that is lost.
        if let Some(n) = n.checked_sub(6).filter(|n| lost.contains(n)) {
            let (seq, dss) = (1 + 1000 * n, format!("dss({0} {0} 1000, ack 101)", 1 + 1000 * n));
            writeln!(text, "{}|{} server wifi A {seq} 101 1000 {dss}", left + 31, left + 1).unwrap();
        }
        let all_before = lost.iter().all(|&lost| lost > n || lost + 6 <= n);
        if all_before && !is_lost {
            acked = seq + 1000;
        }
        writeln!(text, "{}|{} client wifi A 101 {acked} 0 dss(ack {acked})", left + 32, left + 62).unwrap();
    }
    text
}

/// The captures, with what each holds of the packets that it has, by number.
fn cut(text: &str, client: impl Fn(usize) -> bool, server: impl Fn(usize) -> bool) -> tables::Tables {
    let mut packets = Script::default().packets(text);
    packets.sort_by_key(|packet| packet.observation.at);
    let mut counts = [0, 0];
    packets.retain(|packet| {
        let count = &mut counts[packet.host as usize];
        *count += 1;
        if packet.host == Host::Client { client(*count - 1) } else { server(*count - 1) }
    });
    analyze(packets)
}

fn all(_: usize) -> bool {
    true
}

fn remark<'a>(tables: &'a tables::Tables, name: &str) -> Option<&'a tables::Diagnostic> {
    let mut found = tables.diagnostics.iter().filter(|row| row.diagnostic == name);
    let first = found.next();
    assert!(found.next().is_none(), "{name} is said twice");
    first
}

const LOST: [u32; 4] = [5, 20, 60, 80];

#[test]
fn captures_of_the_same_time_need_no_remark() {
    let tables = cut(&download(100, &LOST), all, all);
    assert_eq!(flow(&tables, 0, Down).lost_packets, Some(4));
    assert!(remark(&tables, "capture_partial").is_none());
    assert!(remark(&tables, "captures_unrelated").is_none());
}

/// Of the receiver's the second half is missing: what was sent then is not lost.
#[test]
fn what_one_capture_does_not_cover_is_not_lost() {
    let tables = cut(&download(100, &LOST), |n| n < 104, all);
    assert_eq!(flow(&tables, 0, Down).lost_packets, Some(2));
    let remark = remark(&tables, "capture_partial").expect("a remark");
    assert_eq!(remark.capture.as_deref(), Some("client"));
    assert!(remark.message.starts_with("the client's capture covers 0.000 to 0.6"), "{}", remark.message);
    // The server's capture knows what was delivered, and how long it took.
    assert_eq!(transfer(&tables, Down).bytes, 100_000);
    assert_eq!(flow(&tables, 0, Down).bytes, 100_000);
}

#[test]
fn of_a_senders_capture_that_stops_the_other_knows_the_bytes() {
    let tables = cut(&download(100, &LOST), all, |n| n < 104);
    let down = flow(&tables, 0, Down);
    assert_eq!((down.lost_packets, down.bytes), (Some(2), 100_000));
    let remark = remark(&tables, "capture_partial").expect("a remark");
    assert_eq!(remark.capture.as_deref(), Some("server"));
    assert!(down.data_packets < 60);
}

#[test]
fn so_of_captures_that_begin_late() {
    let text = download(100, &LOST);
    for (client, server) in [(100, 0), (0, 100)] {
        let tables = cut(&text, |n| n >= client, |n| n >= server);
        let down = flow(&tables, 0, Down);
        assert_eq!((down.lost_packets, down.bytes), (Some(2), 100_000), "{:#?}", tables.diagnostics);
        let remark = remark(&tables, "capture_partial").expect("a remark");
        assert_eq!(remark.capture.as_deref(), Some(if client > 0 { "client" } else { "server" }));
        let transfer = transfer(&tables, Down);
        assert_eq!(transfer.bytes, 100_000);
        assert!(transfer.elapsed_s.unwrap() > 1.0, "{transfer:?}");
        assert!(only(&tables).start_s < 0.001);
    }
}

#[test]
fn which_capture_dropped_packets_is_said() {
    let text = download(100, &LOST);
    for (client, server, name) in [(60..90, 0..0, "client"), (0..0, 60..90, "server")] {
        let tables = cut(&text, |n| !client.contains(&n), |n| !server.contains(&n));
        let down = flow(&tables, 0, Down);
        assert_eq!((down.lost_packets, down.bytes), (None, 100_000));
        assert_eq!(remark(&tables, "missed_bytes").expect("a remark").capture.as_deref(), Some(name));
        assert!(remark(&tables, "capture_partial").is_none());
    }
}

/// Two runs with the same addresses, ports and sequence numbers, one slower: the segments' time stamps tell.
#[test]
fn captures_of_two_runs_are_not_one_connection() {
    let text = |step: u32| {
        let mut text = "
            0|30   client wifi S  0 0 0 mss(1460) ts(1)
            60|30  server wifi SA 0 1 0 mss(1460) ts(31)
            60|90  client wifi A  1 1 0 ts(61)
            "
        .to_owned();
        for n in 0..60 {
            let (left, seq) = (100 + step * n, 1 + 1000 * n);
            writeln!(text, "{}|{left} server wifi A {seq} 1 1000 ts({left})", left + 30).unwrap();
            writeln!(text, "{}|{} client wifi A 1 {} 0 ts({})", left + 32, left + 62, seq + 1000, left + 32).unwrap();
        }
        text
    };
    let [fast, slow] = [10, 20].map(|step| Script::default().packets(&text(step)));
    let mixed = fast.into_iter().filter(|packet| packet.host == Host::Client);
    let tables = analyze(mixed.chain(slow.into_iter().filter(|packet| packet.host == Host::Server)).collect());
    assert!(remark(&tables, "captures_unrelated").is_some(), "{:#?}", tables.diagnostics);
    for name in ["clock_drift", "clock_offset", "capture_partial", "segments_split"] {
        assert!(remark(&tables, name).is_none(), "{name}");
    }
    let down = flow(&tables, 0, Down);
    assert_eq!((down.lost_packets, down.one_way_delay_ms_median), (None, None));
}

/// Both captures began midway, at one time: what the client saw first had left before the server's began.
#[test]
fn captures_that_both_began_midway_are_one_connection() {
    let mut text = String::new();
    for n in 0..200 {
        let (path, left, seq) = (["wifi", "lte"][n % 2], 100 + 7 * n, 1 + 1000 * n);
        let (own, arrived) = (1 + 1000 * (n / 2), left + 40);
        writeln!(text, "{arrived}|{left} server {path} A {own} 1 1000 ts({left}) dss({seq} {own} 1000, ack 1)")
            .unwrap();
        let (up, acked) = (arrived + 1, own + 1000);
        writeln!(text, "{up}|{} client {path} A 1 {acked} 0 ts({up}) dss(ack {})", up + 40, seq + 1000).unwrap();
    }
    let mut packets = Script::default().packets(&text);
    packets.sort_by_key(|packet| packet.observation.at);
    let first = packets[0].observation.at;
    for began_ms in 200..230 {
        let late = |packet: &&Captured| packet.observation.at - first >= began_ms * 1_000_000;
        let tables = analyze(packets.iter().filter(late).cloned().collect());
        assert_eq!(only(&tables).subflows, 2);
        assert!(remark(&tables, "captures_unrelated").is_none(), "{began_ms}: {:#?}", tables.diagnostics);
        assert_eq!([0, 1].map(|subflow| flow(&tables, subflow, Down).lost_packets), [Some(0); 2], "{began_ms}");
    }
}

/// A middlebox may move all time stamps alike.
#[test]
fn moved_time_stamps_are_no_other_connection() {
    let mut text = "0|30 client wifi S 0 0 0 mss(1460) ts(1)\n60|30 server wifi SA 0 1 0 mss(1460) ts(31)\n".to_owned();
    text += "60|90 client wifi A 1 1 0 ts(61)\n";
    let mut packets = Vec::new();
    for (host, apart) in [(Host::Client, 0), (Host::Server, 5000)] {
        let mut text = text.clone();
        for n in 0..60 {
            let left = 100 + 10 * n;
            writeln!(text, "{}|{left} server wifi A {} 1 1000 ts({})", left + 30, 1 + 1000 * n, left + apart).unwrap();
        }
        packets.extend(Script::default().packets(&text).into_iter().filter(|packet| packet.host == host));
    }
    let tables = analyze(packets);
    assert!(remark(&tables, "captures_unrelated").is_none());
    assert_eq!(flow(&tables, 0, Down).lost_packets, Some(0));
}

/// Two runs with other sequence numbers: no connection is in both.
#[test]
fn captures_without_a_common_connection_are_told() {
    let text = download(20, &[]);
    let from = |number: u16, host: Host| {
        let script = Script {
            addresses: [("wifi", [([10, 0, 0, 1], 5000 + number).into(), ([10, 255, 0, 1], 443).into()])].into(),
            ..Script::numbered(number)
        };
        script.packets(&text).into_iter().filter(move |packet| packet.host == host)
    };
    let tables = analyze(from(1, Host::Client).chain(from(2, Host::Server)).collect());
    assert_eq!(tables.connections.len(), 2);
    assert!(remark(&tables, "captures_unrelated").is_some());
    let related = analyze(from(1, Host::Client).chain(from(1, Host::Server)).collect());
    assert!(remark(&related, "captures_unrelated").is_none());
}

/// Times in steps of 10 ms, and round trips of 3: some show as 0, some as 10.
#[test]
fn a_clock_too_coarse_for_round_trips_is_told() {
    let coarse = |step: f64| {
        let mut text = "0 client wifi S 0 0 0\n30 server wifi SA 0 1 0\n30 client wifi A 1 1 0\n".to_owned();
        for n in 0..50 {
            let (left, back) = (100.0 + 13.7 * f64::from(n), 103.0 + 13.7 * f64::from(n));
            let [left, back] = [left, back].map(|at| (at / step).floor() * step);
            writeln!(text, "{left} client wifi A {} 1 100", 1 + 100 * n).unwrap();
            writeln!(text, "{back} server wifi A 1 {} 0", 101 + 100 * n).unwrap();
        }
        let tables = Script::default().run(&text);
        remark(&tables, "clock_coarse").map(|row| row.count.unwrap())
    };
    assert_eq!((coarse(10.0), coarse(0.1)), (Some(10_000_000), None));
}
