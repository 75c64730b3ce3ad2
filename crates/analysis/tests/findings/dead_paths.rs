//! A path that was dead beside another one: `path_dead`.

use super::kinds;
use super::script::*;
use std::fmt::Write;

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
/// `answers`; half a second later they are sent again, and the upload goes on.
fn lost_tail(answers: bool) -> tables::Tables {
    let mut lines = String::new();
    for (at, path, hello, answer) in [(0, "wifi", "mp_capable", "mp_capable"), (100, "lte", "join(2)", "join(0)")] {
        writeln!(lines, "{at}|- client {path} S 0 0 0 {hello}").unwrap();
        writeln!(lines, "{}|- server {path} SA 0 1 0 {answer}", at + 20).unwrap();
        writeln!(lines, "{}|- client {path} A 1 1 0 {hello}", at + 20).unwrap();
        writeln!(lines, "{}|- server {path} A 1 1 0 dss(ack 1)", at + 40).unwrap();
    }
    let (mut data, mut on) = (1, [1; 2]);
    for at in (200..6000).step_by(10).filter(|at| !(2020..2520).contains(at)) {
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
