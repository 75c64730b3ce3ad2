//! What findings say of uploads that stand still or slow down, worked out packet by packet.

mod script;

use script::*;
use std::fmt::Write;
use tables::{Finding, Tables};

const OPENS: &str = "
    0|-  client wifi S  0 0 0 mp_capable
    20|- server wifi SA 0 1 0 mp_capable
    20|- client wifi A  1 1 0 mp_capable
    ";

/// Analyses packets of the client's capture, in any order: when each passed, and what it is.
fn analysed(script: &Script, opens: &str, mut packets: Vec<(f64, String)>) -> Tables {
    packets.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut lines = opens.to_owned();
    packets.iter().for_each(|(at, packet)| writeln!(lines, "{at:.3}|- {packet}").unwrap());
    script.run(&lines)
}

fn kinds(tables: &Tables) -> Vec<&str> {
    tables.findings.iter().map(|row| &*row.kind).collect()
}

fn found<'a>(tables: &'a Tables, kind: &str) -> &'a Finding {
    let row = tables.findings.iter().find(|row| row.kind == kind);
    row.unwrap_or_else(|| panic!("{:?}", kinds(tables)))
}

/// A segment of 1000 bytes on Wi-Fi, and its acknowledgement.
fn segment(number: usize) -> String {
    let from = 1 + 1000 * number;
    format!("client wifi A {from} 1 1000 dss({from} {from} 1000, ack 1)")
}

fn answer(number: usize) -> String {
    let to = 1001 + 1000 * number;
    format!("server wifi A 1 {to} 0 dss(ack {to})")
}

/// So many segments, `window` of them in flight, through a bottleneck that passes one in `takes`, milliseconds, both at a time;
/// the path takes 20 ms.
fn through(segments: usize, window: impl Fn(f64) -> usize, takes: impl Fn(f64) -> f64) -> Tables {
    let (mut at, mut passed) = (40.0_f64, 0.0_f64);
    let mut answers: Vec<f64> = Vec::new();
    let mut packets = Vec::new();
    for number in 0..segments {
        while number >= window(at) + answers.partition_point(|&answer| answer <= at) {
            at = answers[answers.partition_point(|&answer| answer <= at)];
        }
        passed = passed.max(at + 10.0) + takes(at);
        answers.push(passed + 10.0);
        packets.extend([(at, segment(number)), (passed + 10.0, answer(number))]);
    }
    analysed(&Script::default(), OPENS, packets)
}

#[test]
fn a_path_that_becomes_slower_while_packets_wait_on_it_is_told() {
    let falls = |at: f64| if at < 3000.0 { 1.0 } else { 10.0 };
    let [slow, fast] = [through(3500, |_| 40, falls), through(3500, |_| 40, |_| 1.0)];
    let true_s = transfer(&slow, Up).elapsed_s.unwrap() - transfer(&fast, Up).elapsed_s.unwrap();
    let row = found(&slow, "path_slowed");
    assert!(row.message.starts_with("wifi carried 0.8 Mbit/s for "), "{}", row.message);
    assert!(row.message.contains("up to 8.0 Mbit/s at other times"), "{}", row.message);
    assert!((row.cost_s.unwrap() - true_s).abs() < 0.15 * true_s, "{:?} {true_s}", row.cost_s);
    assert_eq!(row.direction, Some(Up));
    assert_eq!(kinds(&fast), [""; 0]);
    // As fast as before for the rest of the transfer; but a path that becomes faster was not slow.
    let back = through(6000, |_| 40, |at| if (3000.0..6000.0).contains(&at) { 10.0 } else { 1.0 });
    let row = found(&back, "path_slowed");
    assert!((row.from_s - 3.0).abs() < 0.6 && (row.to_s - 6.0).abs() < 0.6, "{} {}", row.from_s, row.to_s);
    let faster = through(3500, |_| 40, |at| if at < 3000.0 { 10.0 } else { 1.0 });
    assert!(!kinds(&faster).contains(&"path_slowed"), "{:?}", kinds(&faster));
}

#[test]
fn a_sender_that_slows_down_makes_no_path_slow() {
    // With two segments in flight no packet waits for another.
    let sender = through(3500, |at| if at < 3000.0 { 20 } else { 2 }, |_| 1.0);
    assert!(!kinds(&sender).contains(&"path_slowed"), "{:?}", kinds(&sender));
}

/// An upload of 500 segments a second, of which a path answers to none from each of these times on, for so long, milliseconds.
/// `in_flight` of them are sent then, and again after time-outs of 240 ms and, once the path is back, of all the pause.
fn pausing(starts: &[f64], pause: f64, in_flight: usize) -> Tables {
    let (mut at, mut number) = (40.0, 0);
    let mut packets = Vec::new();
    let mut starts = starts.iter().copied().peekable();
    while number < 3000 {
        if let Some(start) = starts.next_if(|&start| at >= start) {
            let stuck = number..number + in_flight;
            packets.extend(stuck.clone().map(|one| (at + 2.0 * (one - number) as f64, segment(one))));
            packets.push((start + 20.0 + 240.0, segment(number)));
            at = start + 20.0 + pause;
            packets.extend(stuck.clone().flat_map(|one| [(at, segment(one)), (at + 20.0, answer(one))]));
            number += in_flight;
        }
        packets.extend([(at, segment(number)), (at + 20.0, answer(number))]);
        (at, number) = (at + 2.0, number + 1);
    }
    analysed(&Script::default(), OPENS, packets)
}

#[test]
fn short_pauses_of_the_only_path_are_told() {
    let tables = pausing(&[1000.0, 2000.0, 3000.0, 4000.0], 400.0, 10);
    assert_eq!(kinds(&tables), ["outage"; 4]);
    let messages: Vec<&str> = tables.findings.iter().map(|row| &*row.message).collect();
    assert!(messages.contains(&"wifi delivered nothing between 1.0 s and 1.4 s: 0.4 s lost"), "{messages:?}");
    let cost_s: f64 = tables.findings.iter().filter_map(|row| row.cost_s).sum();
    assert!((cost_s - 1.6).abs() < 0.2, "four times 0.4 s: {cost_s}");
    // Of a segment alone, a time-out is how its loss shows.
    let alone = pausing(&[1000.0, 2000.0, 3000.0, 4000.0], 300.0, 1);
    assert_eq!(kinds(&alone), [""; 0]);
}

/// An upload whose receiver shuts its window for 5 s; `probe` is a byte that the sender tries it with, which is not answered.
fn shut(probe: bool) -> Tables {
    let mut packets = Vec::new();
    for number in 0..2000_usize {
        let at = if number < 1000 { 40.0 + 2.0 * number as f64 } else { 5080.0 + 2.0 * number as f64 };
        packets.push((at, segment(number)));
        let window = if number == 999 { " win(0)" } else { "" };
        packets.push((at + 20.0, answer(number) + window));
    }
    for at in [2300.0, 2720.0, 3600.0, 5400.0] {
        if probe {
            packets.push((at, "client wifi A 1000001 1 1 dss(1000001 1000001 1, ack 1)".to_owned()));
        }
        packets.push((at + 20.0, answer(999) + " win(0)"));
    }
    packets.push((7060.0, answer(999)));
    analysed(&Script::default(), OPENS, packets)
}

#[test]
fn a_window_that_is_shut_is_the_receivers_doing() {
    for probe in [false, true] {
        let tables = shut(probe);
        assert_eq!(kinds(&tables), ["receive_window"], "{probe}");
        let row = &tables.findings[0];
        assert!(
            row.message.starts_with("the receiver's window was shut for 5.0 s between 2.0 s and 7.1 s"),
            "{}",
            row.message
        );
        assert!((row.cost_s.unwrap() - 5.0).abs() < 0.2, "{:?}", row.cost_s);
        assert!(row.remedy.starts_with("look at the program that receives"), "{}", row.remedy);
    }
}

/// An upload of 1000 bytes each millisecond for so long, with a join that is refused.
fn refused(segments: usize) -> Tables {
    joining(
        segments,
        "
        70|- server lte SA 0 1 0
        70|- client lte R  1 0 0
        ",
    )
}

/// The same with what comes of the join.
fn joining(segments: usize, then: &str) -> Tables {
    let opens = OPENS.to_owned() + "\n40|- client lte S  0 0 0 join(2)" + then;
    let packets = |number| [(80.0 + number as f64, segment(number)), (100.0 + number as f64, answer(number))];
    analysed(&Script::default(), &opens, (0..segments).flat_map(packets).collect())
}

#[test]
fn a_transfer_whose_join_is_refused_in_time_is_not_too_short() {
    assert_eq!(kinds(&refused(900)), ["join_refused"]);
    // A small one is not worth asking why, and for all that it was not too short for the join.
    assert_eq!(kinds(&refused(300)), [""; 0]);
    assert_eq!(kinds(&refused(5)), ["short_transfer"]);
}

#[test]
fn a_transfer_whose_join_is_not_answered_in_time_is_not_too_short() {
    let unanswered = |segments| joining(segments, "\n");
    assert_eq!(kinds(&unanswered(2000)), ["join_unanswered"]);
    // Within a second its SYN was not due once more.
    assert_eq!(kinds(&unanswered(900)), [""; 0]);
    assert_eq!(kinds(&unanswered(300)), [""; 0]);
    assert_eq!(kinds(&unanswered(5)), ["short_transfer"]);
}

#[test]
fn a_transfer_of_which_the_capture_lacks_the_first_subflow_is_not_too_short() {
    // All that LTE shows: its join, and data whose acknowledgements are of data that went elsewhere.
    let mut packets = Vec::new();
    for number in 0..50 {
        let [from, data, at] = [1 + 1000 * number, 1 + 2000 * number, 100 + 4 * number];
        packets.push((at as f64, format!("client lte A {from} 1 1000 dss({data} {from} 1000, ack 1)")));
        packets.push((at as f64 + 30.0, format!("server lte A 1 {} 0 dss(ack {})", from + 1000, data + 1000)));
    }
    let join = "0|- client lte S 0 0 0 join(2)\n30|- server lte SA 0 1 0 join(0)\n30|- client lte A 1 1 0 join(2)\n";
    let tables = analysed(&Script::default(), join, packets);
    assert_eq!((tables.connections[0].subflows, tables.connections[0].protocol), (1, "mptcp"));
    assert!(!kinds(&tables).contains(&"short_transfer"), "{:?}", kinds(&tables));
}

/// An upload over LTE, and over Wi-Fi until 2 s; at 4 s Wi-Fi answers again, and carries what `again` opens over it.
fn returned(again: bool) -> Tables {
    let mut opens = String::new();
    for (at, path, hello) in [(0, "lte", "mp_capable"), (100, "wifi", "join(2)"), (4050, "more", "join(3)")] {
        let answer = if path == "lte" { "mp_capable" } else { "join(0)" };
        if path != "more" || again {
            writeln!(opens, "{at}|- client {path} S 0 0 0 {hello}").unwrap();
            writeln!(opens, "{}|- server {path} SA 0 1 0 {answer}", at + 20).unwrap();
            writeln!(opens, "{}|- client {path} A 1 1 0 {hello}", at + 20).unwrap();
            writeln!(opens, "{}|- server {path} A 1 1 0 dss(ack 1)", at + 40).unwrap();
        }
    }
    let mut script = Script::default();
    let at = |port| [format!("10.0.1.1:{port}").parse().unwrap(), "10.9.0.1:8080".parse().unwrap()];
    script.addresses = [("wifi", at(5001)), ("more", at(5002))].into();
    script.addresses.insert("lte", ["10.0.2.1:5000".parse().unwrap(), "10.9.0.1:8080".parse().unwrap()]);
    let (mut data, mut on) = (1, [1; 3]);
    let mut packets = Vec::new();
    for ms in (200..8000).step_by(10) {
        for (path, name) in ["lte", "wifi", "more"].into_iter().enumerate() {
            let (begins, ends) = [(200, 8000), (200, 2050), (4200, if again { 8000 } else { 0 })][path];
            // A single segment late shows that the subflow lives.
            if ms < begins || ms >= ends && (path != 1 || ms != 7900) {
                continue;
            }
            let (from, at) = (on[path], f64::from(ms));
            let segment = format!("client {name} A {from} 1 1000 dss({data} {from} 1000, ack 1)");
            (data, on[path]) = (data + 1000, from + 1000);
            let answer = format!("server {name} A 1 {} 0 dss(ack {data})", on[path]);
            packets.push((at, segment.clone()));
            let lost = path == 1 && (2000..7900).contains(&ms);
            packets.push((if lost { 4021.0 } else { at + 20.0 }, answer));
            if lost && ms == 2000 {
                packets.extend([2300.0, 2800.0, 4000.0].map(|again| (again, segment.clone())));
            }
        }
    }
    packets.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut lines: Vec<(f64, String)> = opens
        .lines()
        .map(|line| line.split_once("|- ").expect("a time"))
        .map(|(at, packet)| (at.parse().unwrap(), packet.to_owned()))
        .collect();
    lines.extend(packets);
    analysed(&script, "", lines)
}

#[test]
fn a_path_that_is_used_by_another_subflow_is_used() {
    found(&returned(false), "path_back_unused");
    let tables = returned(true);
    assert!(!kinds(&tables).contains(&"path_back_unused"), "{:?}", tables.findings);
}

/// An upload whose last segments, so long after all before, nothing answers, milliseconds.
fn unanswered(pause: f64) -> Tables {
    let packets =
        |number| [(40.0 + 2.0 * number as f64, segment(number)), (60.0 + 2.0 * number as f64, answer(number))];
    let mut all: Vec<_> = (0..500).flat_map(packets).collect();
    all.extend([0.0, 250.0, 750.0, 1750.0].map(|again| (1058.0 + pause + again, segment(500))));
    analysed(&Script::default(), OPENS, all)
}

#[test]
fn no_nat_forgets_within_seconds() {
    let short = unanswered(1500.0);
    assert!(!kinds(&short).contains(&"forgotten"), "{:?}", kinds(&short));
    assert_eq!(found(&unanswered(8000.0), "forgotten").confidence, 0.6);
}
