//! Which transitions the packet scripts of a test program make, compared with those there should be.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;

/// Of a state machine: from a state, by an event, to a state, and where that is written.
pub type Row = (&'static str, &'static str, &'static str, &'static str);

/// Begins a line that tells of a transition.
const MARK: &str = "moved";

/// A script made a transition. Told on standard error, which is shown only for tests that fail.
pub fn note(before: &str, by: &str, after: &str) {
    eprintln!("{MARK}\t{before}\t{by}\t{after}");
}

/// Plays all scripts of this test program, but for the tests whose names contain one of `but`; prints what they make of
/// `rows` and fails when one is never made, or another.
pub fn compare(rows: &[Row], but: &[&str]) {
    let seen = seen(but);
    println!("{}", report(rows, &seen));
    let known: BTreeSet<_> = rows.iter().map(|&(before, by, after, _)| [before, by, after]).collect();
    assert_eq!(known.len(), rows.len(), "a transition is named twice");
    let is_seen = |row: &&Row| seen.contains_key(&[row.0, row.1, row.2].map(String::from));
    let never: Vec<_> = rows.iter().filter(|row| !is_seen(row)).collect();
    assert!(never.is_empty(), "no script makes these transitions: {never:#?}");
    let unknown: Vec<_> = seen.keys().filter(|[a, b, c]| !known.contains(&[&**a, &**b, &**c])).collect();
    assert!(unknown.is_empty(), "there should be no such transitions: {unknown:#?}");
}

/// How often each transition is made.
fn seen(but: &[&str]) -> BTreeMap<[String; 3], u32> {
    let mut scripts = Command::new(std::env::current_exe().expect("a running test has a program"));
    scripts.arg("--nocapture").args(but.iter().flat_map(|name| ["--skip", name]));
    let output = scripts.output().expect("the program runs once more");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the scripts fail: {errors}");
    let mut seen = BTreeMap::new();
    for line in errors.lines() {
        if let [MARK, before, by, after] = line.split('\t').collect::<Vec<_>>()[..] {
            *seen.entry([before, by, after].map(String::from)).or_default() += 1;
        }
    }
    seen
}

/// Below each state those that follow, with the events that lead there and how often scripts did.
fn report(rows: &[Row], seen: &BTreeMap<[String; 3], u32>) -> String {
    let mut cells: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    let (mut befores, mut afters) = (Vec::new(), Vec::new());
    for &(before, by, after, _) in rows {
        let times = seen.get(&[before, by, after].map(String::from)).copied().unwrap_or(0);
        let times = if times == 0 { "never".into() } else { times.to_string() };
        cells.entry((before, after)).or_default().push(format!("{by} {times}"));
        for (list, name) in [(&mut befores, before), (&mut afters, after)] {
            if !list.contains(&name) {
                list.push(name);
            }
        }
    }
    let mut text = String::new();
    for before in befores {
        let _ = writeln!(text, "{before}");
        for after in &afters {
            if let Some(events) = cells.get(&(before, *after)) {
                let _ = writeln!(text, "    {after:<14}{}", events.join(", "));
            }
        }
    }
    let made = rows.iter().filter(|row| seen.contains_key(&[row.0, row.1, row.2].map(String::from))).count();
    let _ = write!(text, "{made} of {} transitions", rows.len());
    text
}
