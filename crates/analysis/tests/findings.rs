//! What findings say of transfers whose packets stand here.

mod script;

use script::*;
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

fn kinds(tables: &tables::Tables) -> Vec<&str> {
    tables.findings.iter().map(|row| &*row.kind).collect()
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
    assert!(!kinds(&tables).contains(&"path_dead"), "the same time is not told twice");
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

/// An upload whose round trip grows from 20 ms on, by 1 ms each 4 ms and to `longest` at most; of it a queue that overflows
/// once loses `lost` packets in a row.
fn queued(longest: u32, lost: u32) -> Vec<Captured> {
    let mut lines = vec![
        (0, "client wifi S  0 0 0 mp_capable".to_owned()),
        (20, "server wifi SA 0 1 0 mp_capable".to_owned()),
        (20, "client wifi A  1 1 0 mp_capable".to_owned()),
    ];
    let rtt = |number: u32| (20 + number).min(longest);
    let missing = 1000..1000 + lost;
    let again = |number: u32| 4300 + rtt(1000) + 4 * (number - missing.start);
    for number in 0..1500 {
        let (at, from) = (200 + 4 * number, 1 + 1000 * number);
        let segment = format!("client wifi A {from} 1 1000 dss({from} {from} 1000, ack 1)");
        lines.push((at, segment.clone()));
        let mut answered = at + rtt(number);
        if missing.contains(&number) {
            lines.push((again(number), segment));
            answered = again(number) + rtt(number);
        }
        // What lacks nothing before it is acknowledged; the rest in a block.
        let repaired = missing.clone().map(|gone| (again(gone) + rtt(gone), gone)).find(|(at, _)| *at > answered);
        let to = repaired.filter(|_| number > missing.start).map_or(from + 1000, |(_, gone)| 1 + 1000 * gone);
        let sack = if to > from { String::new() } else { format!("sack({from} {})", from + 1000) };
        lines.push((answered, format!("server wifi A 1 {to} 0 dss(ack {to}) {sack}")));
    }
    lines.sort_by_key(|(at, _)| *at);
    let text: String = lines.iter().map(|(at, line)| format!("{at}|- {line}\n")).collect();
    Script::default().packets(&text)
}

#[test]
fn a_long_queue_is_told_also_where_it_overflows() {
    for (longest, lost) in [(400, 0), (400, 60), (1000, 60)] {
        let tables = analyze(queued(longest, lost));
        let row = tables.findings.iter().find(|row| row.kind == "bufferbloat");
        let row = row.unwrap_or_else(|| panic!("{longest} ms, {lost} lost: {:?}", kinds(&tables)));
        let percent = flow(&tables, 0, Up).loss_rate_percent.unwrap();
        assert_eq!(percent > 3.0, lost > 0, "{percent} %");
        assert_eq!(row.message.contains("were lost nevertheless"), lost > 0, "{}", row.message);
    }
    // Three round trips of the path, and 100 ms, are no queue to speak of.
    assert!(!kinds(&analyze(queued(110, 60))).contains(&"bufferbloat"));
}

/// An upload over Wi-Fi, which brings nothing from 2 s on, and LTE; `third` joins at 3.5 s and carries more than both from 4 s on.
/// What was on Wi-Fi goes over LTE `late`, and LTE itself stands still until then if `waits`.
fn left_and_returned(late: u32, waits: bool) -> tables::Tables {
    let mut lines = String::new();
    for (at, path, hello) in [(0, "wifi", "mp_capable"), (100, "lte", "join(2)"), (3500, "third", "join(3)")] {
        let answer = if path == "wifi" { "mp_capable" } else { "join(0)" };
        writeln!(lines, "{at}|- client {path} S 0 0 0 {hello}").unwrap();
        writeln!(lines, "{}|- server {path} SA 0 1 0 {answer}", at + 20).unwrap();
        writeln!(lines, "{}|- client {path} A 1 1 0 {hello}", at + 20).unwrap();
        writeln!(lines, "{}|- server {path} A 1 1 0 dss(ack 1)", at + 40).unwrap();
    }
    let (mut data, mut on, mut stuck) = (1, [1; 3], 0);
    for at in (200..8000).step_by(10) {
        let dead = (2000..5750).contains(&at);
        for (path, name) in ["wifi", "lte", "third"].into_iter().enumerate() {
            let begins = [200, 200, 4000][path];
            let stands = path == 0 && at > 2000 || path == 1 && waits && (2000..late).contains(&at);
            if at < begins || stands || path < 2 && at % 20 == 10 {
                continue;
            }
            let again = path == 1 && at == late;
            let (from, number) = (on[path], if again { stuck } else { data });
            let len = if path == 2 { 2000 } else { 1000 };
            writeln!(lines, "{at}|- client {name} A {from} 1 {len} dss({number} {from} {len}, ack 1)").unwrap();
            data += if again { 0 } else { len };
            if path == 0 && dead {
                stuck = number;
                for again in [2250, 2750, 3750, 5750] {
                    writeln!(lines, "{again}|- client {name} A {from} 1 {len} dss({number} {from} {len}, ack 1)")
                        .unwrap();
                }
                writeln!(lines, "5769|- server {name} A 1 {} 0 dss(ack {data})", from + len).unwrap();
                continue;
            }
            let acked = if stuck > 0 && at < late { stuck } else { data };
            on[path] = from + len;
            writeln!(lines, "{}|- server {name} A 1 {} 0 dss(ack {acked})", at + 9, on[path]).unwrap();
        }
    }
    Script::default().run(&lines)
}

#[test]
fn only_those_that_were_there_and_stood_still_waited_for_a_dead_path() {
    let path_dead = |tables: &tables::Tables| tables.findings.iter().find(|row| row.kind == "path_dead").cloned();
    // LTE goes on as ever, and what joined later waited for nothing: what Wi-Fi would have carried is lost, and no more.
    let row = path_dead(&left_and_returned(2500, false)).expect("Wi-Fi brought nothing");
    assert!(!row.message.contains("waited"), "{}", row.message);
    assert!((0.5..1.0).contains(&row.cost_s.unwrap()), "{:?}", row.cost_s);
    let waited = path_dead(&left_and_returned(3000, true)).expect("LTE stood still for a second");
    assert!(waited.message.contains("; lte waited 1.0 s of that"), "{}", waited.message);
    assert!(waited.cost_s > row.cost_s, "{:?}", waited.cost_s);
}

/// An upload over LTE, 1000 bytes every 10 ms; after 2 s so many segments of it come again, some over LTE and some over Wi-Fi.
fn sent_again(over_lte: u32, over_wifi: u32) -> tables::Tables {
    let mut lines = "
        0   client wifi S  0 0 0 mp_capable
        0.1 server wifi SA 0 1 0 mp_capable
        40  client wifi A  1 1 0 mp_capable
        100 client lte  S  0 0 0 join(2)
        100.1 server lte SA 0 1 0 join(0)
        140 client lte  A  1 1 0 join(2)
        140 server lte  A  1 1 0 dss(ack 1)
        "
    .to_owned();
    let mut highest = 1;
    let numbers = (0..200).chain(0..over_lte).chain(200..300);
    for (sent, number) in (0..).zip(numbers) {
        let at = 200 + 10 * sent;
        let (from, data) = (1 + 1000 * sent, 1 + 1000 * number);
        highest = highest.max(data + 1000);
        writeln!(lines, "{at} client lte A {from} 1 1000 dss({data} {from} 1000, ack 1)").unwrap();
        writeln!(lines, "{at} server lte A 1 {} 0 dss(ack {highest})", from + 1000).unwrap();
    }
    for sent in 0..over_wifi {
        let (at, from, data) = (2210 + 10 * sent, 1 + 1000 * sent, 100_001 + 1000 * sent);
        writeln!(lines, "{at} client wifi A {from} 1 1000 dss({data} {from} 1000, ack 1)").unwrap();
        writeln!(lines, "{at} server wifi A 1 {} 0 dss(ack 200001)", from + 1000).unwrap();
    }
    Script::at(Host::Server).run(&lines)
}

#[test]
fn what_arrived_twice_says_over_what() {
    for (over_lte, over_wifi, told) in [
        (
            60,
            30,
            "30 % of the data arrived twice, 20 % both times over the same subflow (10.0.2.1:5001), 10 % over two",
        ),
        (60, 0, "20 % of the data arrived twice, both times over 10.0.2.1:5001"),
    ] {
        let tables = sent_again(over_lte, over_wifi);
        let row = tables.findings.iter().find(|row| row.kind == "reinjection_waste");
        let row = row.unwrap_or_else(|| panic!("{:?}", kinds(&tables)));
        assert_eq!(row.message, told);
        assert!(row.evidence.contains(&format!("{}000 of them over the same", over_lte)), "{}", row.evidence);
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

/// A download over two paths, of which LTE pauses for 8 s. The client closes the connection at 10 s, if at all, when the server's
/// next data is on its way over LTE; it answers that by a reset at 10.04 s.
fn reset_after_a_pause(close: &str) -> tables::Tables {
    let mut lines = "
        0   client wifi S  0 0 0 mp_capable
        0.1 server wifi SA 0 1 0 mp_capable
        20  client wifi A  1 1 0 mp_capable
        100 client lte  S  0 0 0 join(2)
        100.1 server lte SA 0 1 0 join(0)
        140 client lte  A  1 1 0 join(2)
        140.1 server lte  A  1 1 0 dss(ack 1)
        "
    .to_owned();
    let mut on = [1, 1];
    for number in 0..400 {
        let (at, data) = (200 + 20 * number, 1 + 1000 * number);
        let path = usize::from(number < 90 && number % 2 == 1);
        let (name, from) = (["wifi", "lte"][path], on[path]);
        on[path] += 1000;
        writeln!(lines, "{at} server {name} A {from} 1 1000 dss({data} {from} 1000, ack 1)").unwrap();
        writeln!(lines, "{} client {name} A 1 {} 0 dss(ack {})", at + 19, on[path], data + 1000).unwrap();
    }
    let from = on[1];
    writeln!(lines, "10000 server lte A {from} 1 1000 dss(400001 {from} 1000, ack 1)").unwrap();
    writeln!(lines, "{close}").unwrap();
    writeln!(lines, "10040 client lte R 1 {from} 0").unwrap();
    Script::at(Host::Server).run(&lines)
}

#[test]
fn a_reset_by_who_has_closed_the_connection_is_no_forgetting() {
    let is_told = |close: &str| kinds(&reset_after_a_pause(close)).contains(&"forgotten");
    assert!(is_told(""));
    assert!(!is_told("10010 client wifi RA 1 350001 0 fastclose"));
    // Over the slower path it comes later than the reset.
    assert!(!is_told("10060 client wifi RA 1 350001 0 fastclose"));
    assert!(!is_told("9990 client wifi A 1 350001 0 dss(fin 1)"), "it closed");
    // A server's close says nothing of the client.
    assert!(is_told("9990 server wifi RA 350001 1 0 fastclose"));
}

/// An upload over two paths, of which Wi-Fi's address is withdrawn at 2 s; its subflow brings what was left on it at 4 s, and no
/// other joins over it.
fn withdrawn(left: u32) -> tables::Tables {
    let mut lines = String::new();
    for (at, path, hello) in [(0, "wifi", "mp_capable"), (100, "lte", "join(2)")] {
        let answer = if path == "wifi" { "mp_capable" } else { "join(0)" };
        writeln!(lines, "{at}|- client {path} S 0 0 0 {hello}").unwrap();
        writeln!(lines, "{}|- server {path} SA 0 1 0 {answer}", at + 20).unwrap();
        writeln!(lines, "{}|- client {path} A 1 1 0 {hello}", at + 20).unwrap();
        writeln!(lines, "{}|- server {path} A 1 1 0 dss(ack 1)", at + 40).unwrap();
    }
    let (mut data, mut on) = (1, [1; 2]);
    for at in (200..8000).step_by(10) {
        if at == 2000 {
            writeln!(lines, "2000|- client lte A {} 1 0 dss(ack 1) remove_addr(0)", on[1]).unwrap();
        }
        let path = usize::from(at % 20 == 0);
        if path == 0 && at > 2000 && !(4000..4000 + 20 * left).contains(&at) {
            continue;
        }
        let (name, from) = (["wifi", "lte"][path], on[path]);
        on[path] += 1000;
        writeln!(lines, "{at}|- client {name} A {from} 1 1000 dss({data} {from} 1000, ack 1)").unwrap();
        data += 1000;
        writeln!(lines, "{}|- server {name} A 1 {} 0 dss(ack {data})", at + 29, on[path]).unwrap();
    }
    Script::default().run(&lines)
}

#[test]
fn a_path_whose_address_was_withdrawn_is_away_also_where_its_subflow_brings_what_was_left() {
    for (left, expected) in [(0, vec![(2.0, 8.0)]), (5, vec![(4.1, 8.0), (2.0, 4.0)])] {
        let tables = withdrawn(left);
        let rows = tables.findings.iter().filter(|row| row.kind == "path_dead");
        let spans: Vec<(f64, f64)> =
            rows.clone().map(|row| ((row.from_s * 10.0).round() / 10.0, (row.to_s * 10.0).round() / 10.0)).collect();
        assert_eq!(spans, expected, "{:?}", tables.findings);
        let cost_s: f64 = rows.filter_map(|row| row.cost_s).sum();
        assert!((2.4..3.6).contains(&cost_s), "half of six seconds: {cost_s} s");
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

/// An upload over two paths: the receiver never takes a segment that was lost, however often the second path brings it.
fn stuck(times: u32, taken: bool) -> tables::Tables {
    let mut lines = "
        0|-   client wifi S  0 0 0 mp_capable
        20|-  server wifi SA 0 1 0 mp_capable
        20|-  client wifi A  1 1 0 mp_capable
        100|- client lte  S  0 0 0 join(2)
        130|- server lte  SA 0 1 0 join(0)
        130|- client lte  A  1 1 0 join(2)
        160|- server lte  A  1 1 0 dss(ack 1)
        "
    .to_owned();
    let hole = 100_001;
    for number in 0..100 {
        let (at, from) = (200 + 20 * number, 1 + 1000 * number);
        writeln!(lines, "{at}|- client wifi A {from} 1 1000 dss({from} {from} 1000, ack 1)").unwrap();
        writeln!(lines, "{}|- server wifi A 1 {1} 0 dss(ack {1})", at + 19, from + 1000).unwrap();
    }
    writeln!(lines, "2200|- client wifi A {hole} 1 1000 dss({hole} {hole} 1000, ack 1)").unwrap();
    for number in 0..times {
        let (at, from) = (2400 + 200 * number, 1 + 1000 * number);
        let ack = if taken { hole + 1000 } else { hole };
        writeln!(lines, "{at}|- client lte A {from} 1 1000 dss({hole} {from} 1000, ack 1)").unwrap();
        writeln!(lines, "{}|- server lte A 1 {} 0 dss(ack {ack})", at + 30, from + 1000).unwrap();
    }
    analyze(Script::default().packets(&lines))
}

#[test]
fn a_receiver_that_acknowledges_on_subflows_alone_is_stuck() {
    let tables = stuck(20, false);
    let row = tables.findings.iter().find(|row| row.kind == "receiver_stuck");
    let row = row.unwrap_or_else(|| panic!("{:?}", kinds(&tables)));
    assert_eq!(
        row.message,
        "the receiver took nothing more from 2.2 s on, and the transfer did not end: subflows acknowledged what was sent again, the connection did not"
    );
    assert!(!kinds(&stuck(20, true)).contains(&"receiver_stuck"), "it was taken");
    assert!(!kinds(&stuck(5, false)).contains(&"receiver_stuck"), "for a second only");
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

#[test]
fn a_path_delays_only_what_was_sent() {
    let mut lines = "
        0|-  client wifi S  0 0 0 mp_capable
        20|- server wifi SA 0 1 0 mp_capable
        20|- client wifi A  1 1 0 mp_capable
        "
    .to_owned();
    // Ten seconds later, ten segments that are answered a second after they were sent.
    for number in 0..160 {
        let held = number >= 150;
        let at = if held { 12_000 + number } else { 200 + 10 * number };
        let (from, to) = (1 + 1000 * number, 1001 + 1000 * number);
        let segment = format!("client wifi A {from} 1 1000 dss({from} {from} 1000, ack 1)");
        writeln!(lines, "{at}|- {segment}").unwrap();
        if number == 150 {
            writeln!(lines, "12450|- {segment}").unwrap();
        }
        writeln!(lines, "{}|- server wifi A 1 {to} 0 dss(ack {to})", if held { at + 1000 } else { at + 30 }).unwrap();
    }
    let tables = Script::default().run(&lines);
    let row = tables.findings.iter().find(|row| row.kind == "spurious_timeouts");
    let row = row.unwrap_or_else(|| panic!("{:?}", tables.findings));
    assert!(row.message.contains("by up to 1.0 s"), "{}", row.message);
}

#[test]
fn a_capture_that_cut_most_options_is_unfit_and_says_so() {
    let cut = |one_in: u32| {
        let mut lines = "
            0|-  client wifi S  0 0 0 mp_capable
            20|- server wifi SA 0 1 0 mp_capable
            20|- client wifi A  1 1 0 mp_capable
            "
        .to_owned();
        for number in 0..200 {
            let (at, from, to) = (200 + 20 * number, 1 + 1000 * number, 1001 + 1000 * number);
            let cut = if number % one_in == 0 { "cut(8)" } else { "" };
            writeln!(lines, "{at}|- client wifi A {from} 1 1000 dss({from} {from} 1000, ack 1) {cut}").unwrap();
            writeln!(lines, "{}|- server wifi A 1 {to} 0 dss(ack {to})", at + 30).unwrap();
        }
        Script::default().run(&lines)
    };
    let tables = cut(1);
    let row = tables.findings.iter().find(|row| row.kind == "capture_unfit");
    let row = row.unwrap_or_else(|| panic!("{:?}", tables.findings));
    assert!(row.message.contains("its snap length cut TCP options"), "{}", row.message);
    assert!(!cut(10).findings.iter().any(|row| row.message.contains("snap length cut")));
}

/// An upload over two paths, captured at the server alone. Wi-Fi brings nothing from 2 to 4 s; LTE goes on, and brings what was lost
/// on it half a second later.
fn at_the_receiver(lost: usize) -> tables::Tables {
    let mut lines = String::new();
    for (at, path, hello, answer) in [(10, "wifi", "mp_capable", "mp_capable"), (100, "lte", "join(2)", "join(0)")] {
        writeln!(lines, "-|{at} client {path} S 0 0 0 {hello}").unwrap();
        writeln!(lines, "-|{at} server {path} SA 0 1 0 {answer}").unwrap();
        writeln!(lines, "-|{} client {path} A 1 1 0 {hello}", at + 20).unwrap();
        writeln!(lines, "-|{} server {path} A 1 1 0 dss(ack 1)", at + 21).unwrap();
    }
    let (mut data, mut on, mut missing) = (1, [1; 2], Vec::new());
    for at in (200..6000).step_by(10) {
        let path = usize::from(at % 20 != 0);
        let mut due = Vec::new();
        if path == 0 && (2000..4000).contains(&at) {
            if missing.len() < lost && at < 2500 {
                missing.push(data);
                data += 1000;
            }
            continue;
        }
        if path == 1 && at >= 2500 {
            due.append(&mut missing);
        }
        due.push(data);
        data += 1000;
        let name = ["wifi", "lte"][path];
        for number in due {
            let from = on[path];
            on[path] += 1000;
            writeln!(lines, "-|{at} client {name} A {from} 1 1000 dss({number} {from} 1000, ack 1)").unwrap();
        }
        let acked = missing.first().copied().unwrap_or(data);
        writeln!(lines, "-|{at} server {name} A 1 {} 0 dss(ack {acked})", on[path]).unwrap();
    }
    Script::default().run(&lines)
}

#[test]
fn a_dead_path_shows_at_the_receiver_where_data_waited_for_what_was_on_it() {
    let tables = at_the_receiver(4);
    assert_eq!(tables.connections[0].vantage, Some("server"));
    let row = tables.findings.iter().find(|row| row.kind == "path_dead");
    let row = row.unwrap_or_else(|| panic!("{:?}", kinds(&tables)));
    assert!(row.message.contains(" delivered nothing from 2.0 s to 4.0 s"), "{}", row.message);
    assert_eq!(row.subflow, Some(0));
    assert_eq!(row.confidence, 0.6);
    assert!((0.8..1.2).contains(&row.cost_s.unwrap()), "half of the rate for 2 s: {:?}", row.cost_s);
    assert!(!kinds(&at_the_receiver(0)).contains(&"path_dead"), "nothing waited: the scheduler may have left it idle");
}

/// An upload over two paths, in which all wait from 2 s on for a window of LTE: eight segments of it are lost, and two answered, if
/// `answers`; half a second later they are sent again.
fn lost_tail(answers: bool) -> tables::Tables {
    let mut lines = String::new();
    for (at, path, hello, answer) in [(0, "wifi", "mp_capable", "mp_capable"), (100, "lte", "join(2)", "join(0)")] {
        writeln!(lines, "{at}|- client {path} S 0 0 0 {hello}").unwrap();
        writeln!(lines, "{}|- server {path} SA 0 1 0 {answer}", at + 20).unwrap();
        writeln!(lines, "{}|- client {path} A 1 1 0 {hello}", at + 20).unwrap();
        writeln!(lines, "{}|- server {path} A 1 1 0 dss(ack 1)", at + 40).unwrap();
    }
    let (mut data, mut on) = (1, [1; 2]);
    for at in (200..6000).step_by(10).filter(|at| !(2020..2600).contains(at)) {
        let path = usize::from(at % 20 != 0);
        let (name, from) = (["wifi", "lte"][path], on[path]);
        let count = if at == 2010 { 10 } else { 1 };
        for number in 0..count {
            let (data, from) = (data + 1000 * number, from + 1000 * number);
            writeln!(lines, "{}|- client {name} A {from} 1 1000 dss({data} {from} 1000, ack 1)", at + number).unwrap();
        }
        let mut answered = at + 29;
        if at == 2010 {
            for to in [9000, 10_000].into_iter().filter(|_| answers) {
                let sack = format!("sack({} {})", from + 8000, from + to);
                writeln!(lines, "{}|- server {name} A 1 {from} 0 dss(ack {data}) {sack}", 2060 + to / 1000).unwrap();
            }
            writeln!(lines, "2500|- client {name} A {from} 1 1000 dss({data} {from} 1000, ack 1)").unwrap();
            answered = 2530;
        }
        (data, on[path]) = (data + 1000 * count, from + 1000 * count);
        writeln!(lines, "{answered}|- server {name} A 1 {} 0 dss(ack {data})", on[path]).unwrap();
    }
    Script::default().run(&lines)
}

#[test]
fn a_path_that_answered_what_was_sent_last_is_not_dead() {
    assert!(kinds(&lost_tail(false)).contains(&"path_dead"), "{:?}", kinds(&lost_tail(false)));
    assert!(!kinds(&lost_tail(true)).contains(&"path_dead"), "{:?}", kinds(&lost_tail(true)));
}
