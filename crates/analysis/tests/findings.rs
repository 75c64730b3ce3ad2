//! What findings say of transfers whose packets stand here.

#[path = "findings/dead_paths.rs"]
mod dead_paths;
#[path = "findings/outages.rs"]
mod outages;
mod script;

use script::*;
use std::fmt::Write;

fn kinds(tables: &tables::Tables) -> Vec<&str> {
    tables.findings.iter().map(|row| &*row.kind).collect()
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
fn a_long_queue_is_found_also_where_it_overflows() {
    for (longest, lost) in [(400, 0), (400, 60), (1000, 60)] {
        let tables = analyze(queued(longest, lost));
        let row = tables.findings.iter().find(|row| row.kind == "bufferbloat");
        let row = row.unwrap_or_else(|| panic!("{longest} ms, {lost} lost: {:?}", kinds(&tables)));
        let percent = flow(&tables, 0, Up).loss_rate_percent.unwrap();
        assert_eq!(percent > 3.0, lost > 0, "{percent} %");
        assert_eq!(row.message.contains("were lost"), lost > 0, "{}", row.message);
    }
    // Three round trips of the path, and 100 ms, are no queue to speak of.
    assert!(!kinds(&analyze(queued(110, 60))).contains(&"bufferbloat"));
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
    for (over_lte, over_wifi, message) in [
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
        assert_eq!(row.message, message);
        assert!(row.evidence.contains(&format!("{}000 of them over the same", over_lte)), "{}", row.evidence);
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
    let is_found = |close: &str| kinds(&reset_after_a_pause(close)).contains(&"forgotten");
    assert!(is_found(""));
    assert!(!is_found("10010 client wifi RA 1 350001 0 fastclose"));
    // Over the slower path it comes later than the reset.
    assert!(!is_found("10060 client wifi RA 1 350001 0 fastclose"));
    assert!(!is_found("9990 client wifi A 1 350001 0 dss(fin 1)"), "it closed");
    // A server's close says nothing of the client.
    assert!(is_found("9990 server wifi RA 350001 1 0 fastclose"));
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
