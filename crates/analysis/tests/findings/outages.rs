//! Times in which no path that was used brought anything: `outage`, `timeout_chain` and `backup_unused`.

use super::kinds;
use super::script::*;
use std::fmt::Write;

/// An upload over Wi-Fi with a second path: 1000 bytes every 20 ms, which come `until`, and from `again` on.
fn upload(join: &str, until: u32, again: u32) -> Vec<Captured> {
    let mut lines = format!(
        "
        0|-   client wifi S  0 0 0 mp_capable
        20|-  server wifi SA 0 1 0 mp_capable
        20|-  client wifi A  1 1 0 mp_capable
        100|- client lte  S  0 0 0 {join}
        130|- server lte  SA 0 1 0 join(0)
        130|- client lte  A  1 1 0 {join}
        160|- server lte  A  1 1 0 dss(ack 1)
        "
    );
    let mut segment = |at: u32, number: u32, answered: bool| {
        let from = 1 + 1000 * number;
        writeln!(lines, "{at}|- client wifi A {from} 1 1000 dss({from} {from} 1000, ack 1)").unwrap();
        if answered {
            let (at, to) = (at + 19, from + 1000);
            writeln!(lines, "{at}|- server wifi A 1 {to} 0 dss(ack {to})").unwrap();
        }
    };
    let before = (until - 200) / 20;
    (0..before).for_each(|number| segment(200 + 20 * number, number, true));
    // Sent, and again after time-outs that double, until it is answered.
    for at in [until, until + 250, until + 750] {
        segment(at, before, false);
    }
    segment(again, before, true);
    (1..100).for_each(|number| segment(again + 20 * number, before + number, true));
    Script::default().packets(&lines)
}

#[test]
fn a_backup_that_stays_idle_while_the_regular_path_is_silent_is_told() {
    let tables = analyze(upload("join(2 backup)", 2000, 4000));
    let row = tables
        .findings
        .iter()
        .find(|row| row.kind == "backup_unused")
        .unwrap_or_else(|| panic!("{:?}", kinds(&tables)));
    assert_eq!(row.message, "wifi delivered nothing for 2.0 s, and lte, a backup, stayed idle");
    assert!(row.filter.contains("tcp.port == 5000"), "Wi-Fi's packets show it: {}", row.filter);
    assert_eq!(row.cost_s, None, "how fast it would have been nothing tells");
    assert!(!kinds(&tables).contains(&"path_dead"), "the same time is not reported twice");
    // No fault where the regular path goes on.
    assert!(!kinds(&analyze(upload("join(2 backup)", 2000, 2100))).contains(&"backup_unused"));
}

#[test]
fn time_outs_that_come_later_each_time_are_a_chain() {
    let tables = analyze(upload("join(2)", 2000, 4000));
    let row = tables.findings.iter().find(|row| row.kind == "timeout_chain" || row.kind == "path_dead");
    assert!(row.is_some(), "{:?}", kinds(&tables));
    assert!(!kinds(&tables).contains(&"backup_unused"));
}

/// An upload over one path, 1000 bytes every 20 ms: one segment is missing for two seconds, the others go on arriving.
fn repaired(acknowledged: impl Fn(u32) -> String) -> Vec<Captured> {
    let mut lines = "
        0|-  client wifi S  0 0 0 mp_capable
        20|- server wifi SA 0 1 0 mp_capable
        20|- client wifi A  1 1 0 mp_capable
        "
    .to_owned();
    let missing = 100;
    for number in 0..300 {
        let (at, from) = (200 + 20 * number, 1 + 1000 * number);
        writeln!(lines, "{at}|- client wifi A {from} 1 1000 dss({from} {from} 1000, ack 1)").unwrap();
        let repaired = number >= missing + 100;
        let to = if number < missing || repaired { from + 1000 } else { 1 + 1000 * missing };
        let sack = if number > missing && !repaired { acknowledged(number) } else { String::new() };
        if number == missing + 100 {
            let from = 1 + 1000 * missing;
            writeln!(lines, "{}|- client wifi A {from} 1 1000 dss({from} {from} 1000, ack 1)", at + 1).unwrap();
        }
        writeln!(lines, "{}|- server wifi A 1 {to} 0 dss(ack {to}) {sack}", at + 19).unwrap();
    }
    Script::default().packets(&lines)
}

#[test]
fn a_path_that_answers_beyond_a_gap_is_not_dead() {
    let stopped = |tables: &tables::Tables| kinds(tables).iter().any(|kind| ["outage", "timeout_chain"].contains(kind));
    // What arrived last is in the block: each acknowledgement has another one.
    let alive = analyze(repaired(|number| format!("sack({} {})", 101_001, 1001 + 1000 * number)));
    assert!(!stopped(&alive), "{:?}", kinds(&alive));
    // Without a new block nothing shows that anything arrived.
    let silent = analyze(repaired(|_| "sack(101001 102001)".to_owned()));
    assert!(stopped(&silent), "{:?}", kinds(&silent));
}

/// An upload whose round trip takes a while: a window every round trip, of which one lacks its first segment.
fn far(rtt: u32, join: &str) -> Vec<Captured> {
    let mut lines = format!(
        "
        0|-       client wifi S  0 0 0 mp_capable
        {rtt}|-   server wifi SA 0 1 0 mp_capable
        {rtt}|-   client wifi A  1 1 0 mp_capable
        {}|-      client lte  S  0 0 0 {join}
        {}|-      server lte  SA 0 1 0 join(0)
        {}|-      client lte  A  1 1 0 {join}
        {}|-      server lte  A  1 1 0 dss(ack 1)
        ",
        rtt + 10,
        rtt + 40,
        rtt + 40,
        rtt + 70,
    );
    for window in 0..10 {
        let (at, from) = (rtt + 100 + rtt * window, 1 + 20_000 * window);
        for number in 0..20 {
            let from = from + 1000 * number;
            writeln!(lines, "{}|- client wifi A {from} 1 1000 dss({from} {from} 1000, ack 1)", at + number).unwrap();
            let to = if window == 5 { 1 + 20_000 * window } else { from + 1000 };
            let sack =
                if window == 5 && number > 0 { format!("sack({} {})", to + 1000, from + 1000) } else { String::new() };
            if window != 5 || number > 0 {
                writeln!(lines, "{}|- server wifi A 1 {to} 0 dss(ack {to}) {sack}", at + number + rtt - 21).unwrap();
            }
        }
        if window == 5 {
            let again = at + rtt - 1;
            writeln!(lines, "{again}|- client wifi A {from} 1 1000 dss({from} {from} 1000, ack 1)").unwrap();
        }
    }
    Script::default().packets(&lines)
}

#[test]
fn a_long_round_trip_is_no_silence() {
    for rtt in [600, 1000, 1500] {
        for join in ["join(2 backup)", "join(2)"] {
            let tables = analyze(far(rtt, join));
            assert_eq!(kinds(&tables), [""; 0], "{rtt} ms, {join}");
        }
    }
}

/// A download of 1000 bytes every 20 ms over Wi-Fi, of which from 2 to 4 s nothing arrives, captured at both ends: a server whose
/// clock is so far ahead, milliseconds.
fn outage_with_clocks_apart(ahead: i64) -> tables::Tables {
    let mut lines = "
        0|10 client wifi S  0 0 0 mp_capable
        20|10 server wifi SA 0 1 0 mp_capable
        20|30 client wifi A  1 1 0 mp_capable
        "
    .to_owned();
    let mut segment = |at: u32, number: u32, comes: bool| {
        let (from, to) = (1 + 1000 * number, 1001 + 1000 * number);
        let came = if comes { (at + 10).to_string() } else { "-".to_owned() };
        writeln!(lines, "{came}|{at} server wifi A {from} 1 1000 dss({from} {from} 1000, ack 1)").unwrap();
        if comes {
            writeln!(lines, "{}|{} client wifi A 1 {to} 0 dss(ack {to})", at + 10, at + 20).unwrap();
        }
    };
    (0..90).for_each(|number| segment(200 + 20 * number, number, true));
    [2000, 2250, 2750].into_iter().for_each(|at| segment(at, 90, false));
    (0..200).for_each(|number| segment(4000 + 20 * number, 90 + number, true));
    Script { server_clock_ns: ahead * 1_000_000, ..Script::default() }.run(&lines)
}

#[test]
fn clocks_that_differ_move_no_finding() {
    for ahead in [0, 500, -500, 5000, -5000] {
        let tables = outage_with_clocks_apart(ahead);
        let row = tables.findings.iter().find(|row| row.kind == "timeout_chain");
        let row = row.unwrap_or_else(|| panic!("{ahead} ms: {:?}", kinds(&tables)));
        let from_s = row.from_s - tables.connections[0].start_s;
        assert!((1.9..2.1).contains(&from_s), "{ahead} ms: from {from_s} s");
        assert!((1.8..2.2).contains(&row.cost_s.unwrap()), "{ahead} ms: {:?}", row.cost_s);
        // The packet, a time-out, and the times of the filter are those of the sender's capture.
        assert_eq!(row.capture.as_deref(), Some("server"), "{ahead} ms");
        let epoch_s = EPOCH_NS as f64 / 1e9 + 2.0 + ahead as f64 / 1e3;
        let begin: f64 = row.filter.split("epoch >= ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!((begin - epoch_s).abs() < 0.1, "{ahead} ms: {}", row.filter);
    }
}

/// An upload over two paths that both die at 2 s, Wi-Fi with a segment lost before which LTE's data goes on for 80 ms; the last
/// time-out is `last`, milliseconds.
fn dies(last: &[u32]) -> tables::Tables {
    let mut lines = String::new();
    for (at, path, hello) in [(0, "wifi", "mp_capable"), (100, "lte", "join(2)")] {
        let answer = if path == "wifi" { "mp_capable" } else { "join(0)" };
        writeln!(lines, "{at}|- client {path} S 0 0 0 {hello}").unwrap();
        writeln!(lines, "{}|- server {path} SA 0 1 0 {answer}", at + 20).unwrap();
        writeln!(lines, "{}|- client {path} A 1 1 0 {hello}", at + 20).unwrap();
        writeln!(lines, "{}|- server {path} A 1 1 0 dss(ack 1)", at + 40).unwrap();
    }
    let (mut data, mut acked, mut on) = (1, 1, [1; 2]);
    for at in (200..2100).step_by(10) {
        let path = usize::from(at % 20 == 0);
        if path == 0 && at > 2000 && at != 2010 {
            continue;
        }
        let (name, from) = (["wifi", "lte"][path], on[path]);
        on[path] += 1000;
        let segment = format!("client {name} A {from} 1 1000 dss({data} {from} 1000, ack 1)");
        writeln!(lines, "{at}|- {segment}").unwrap();
        data += 1000;
        if path == 0 && at == 2010 || at == 2090 {
            last.iter().for_each(|again| writeln!(lines, "{again}|- {segment}").unwrap());
            continue;
        }
        acked = if at < 2010 { data } else { acked };
        writeln!(lines, "{}|- server {name} A 1 {} 0 dss(ack {acked})", at + 29, on[path]).unwrap();
    }
    Script::default().run(&lines)
}

#[test]
fn a_transfer_that_never_ends_is_told_from_its_last_answer_on() {
    for last in [vec![2400, 3000, 4200], vec![2400, 3000, 4200, 6600, 11_000, 21_000, 41_000, 81_000, 161_000]] {
        let tables = dies(&last);
        let row = tables.findings.iter().find(|row| row.kind == "timeout_chain");
        let row = row.unwrap_or_else(|| panic!("{:?}", kinds(&tables)));
        assert!((2.0..2.2).contains(&row.from_s), "{}", row.message);
        assert_eq!(row.cost_s, None);
        assert!(row.message.ends_with("to the end of the capture, and the transfer did not end"), "{}", row.message);
    }
}

/// An upload over Wi-Fi, which dies for good at 2 s and is tried until 13 s; LTE joins at 3.1 s and goes on.
fn left_for_another() -> tables::Tables {
    let mut lines = String::new();
    for (at, path, hello) in [(0, "wifi", "mp_capable"), (3100, "lte", "join(2)")] {
        let answer = if path == "wifi" { "mp_capable" } else { "join(0)" };
        writeln!(lines, "{at}|- client {path} S 0 0 0 {hello}").unwrap();
        writeln!(lines, "{}|- server {path} SA 0 1 0 {answer}", at + 20).unwrap();
        writeln!(lines, "{}|- client {path} A 1 1 0 {hello}", at + 20).unwrap();
        writeln!(lines, "{}|- server {path} A 1 1 0 dss(ack 1)", at + 40).unwrap();
    }
    let (mut data, mut on) = (1, [1; 2]);
    for at in (200..8000).step_by(10) {
        let path = usize::from(at > 2000);
        if (2001..3200).contains(&at) {
            continue;
        }
        let (name, from) = (["wifi", "lte"][path], on[path]);
        on[path] += 1000;
        let segment = format!("client {name} A {from} 1 1000 dss({data} {from} 1000, ack 1)");
        writeln!(lines, "{at}|- {segment}").unwrap();
        if at == 2000 {
            for again in [2300, 2900, 4100, 6500, 13_000] {
                writeln!(lines, "{again}|- {segment}").unwrap();
            }
            continue;
        }
        data += 1000;
        writeln!(lines, "{}|- server {name} A 1 {} 0 dss(ack {data})", at + 29, on[path]).unwrap();
    }
    Script::default().run(&lines)
}

#[test]
fn time_outs_after_a_stop_are_not_counted_to_it() {
    let tables = left_for_another();
    let row = tables.findings.iter().find(|row| row.kind == "timeout_chain");
    let row = row.unwrap_or_else(|| panic!("{:?}", tables.findings));
    assert!(row.message.contains(": 2 retransmission time-outs"), "{}", row.message);
}
