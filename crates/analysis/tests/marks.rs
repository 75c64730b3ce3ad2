//! Explicit congestion notification (RFC 3168): whether it was agreed on, and what was marked.

mod script;

use script::Host::{Client, Server};
use script::*;

/// RFC 3168 §6.1.1: ECE and CWR in the SYN, ECE alone in its answer; a SYN that is sent again asks no more.
#[test]
fn who_agreed() {
    for (syn, again, answer, agreed) in [
        ("SEC", None, "SAE", true),
        ("SEC", Some("S"), "SAE", true),
        ("SEC", None, "SA", false),
        ("SEC", None, "SAEC", false),
        ("S", None, "SA", false),
        ("S", None, "SAE", false),
        ("SE", None, "SAE", false),
    ] {
        let again = again.map(|flags| format!("1000 client wifi {flags} 0 0 0")).unwrap_or_default();
        let tables = Script::default().run(&format!(
            "
            0    client wifi {syn} 0 0 0
            {again}
            1020 server wifi {answer} 0 1 0
            1020 client wifi A 1 1 0
            "
        ));
        assert_eq!(subflow(&tables, 0).ecn, Some(agreed), "{syn} {answer}");
    }
    let half = Script::default().run("0 client wifi SEC 0 0 0");
    assert_eq!(subflow(&half, 0).ecn, None);
    // Somebody on the way took it away: the client goes without.
    let altered = Script::default().run(
        "
        0|-   client wifi SEC 0 0 0
        -|20  client wifi SEC 0 0 0
        -|20  server wifi SAE 0 1 0
        40|-  server wifi SA  0 1 0
        40|60 client wifi A   1 1 0
        ",
    );
    assert_eq!(subflow(&altered, 0).ecn, Some(false));
}

/// Marks are made on the way: the receiver's capture has them, the sender's has not. Those that it has already count, too.
#[test]
fn what_came_marked() {
    let script = "
        0|20   client wifi SEC 0 0 0
        40|20  server wifi SAE 0 1 0
        40|60  client wifi A   1 1 0
        -|70   server wifi A   1 1 1000 tos(2)
        90|-   server wifi A   1 1 1000 tos(3)
        91|111 client wifi AE  1 1001 0
        -|112  server wifi A   1001 1 1000 tos(2)
        132|-  server wifi A   1001 1 1000 tos(2)
        -|113  server wifi AC  2001 1 1000 tos(2)
        133|-  server wifi AC  2001 1 1000 tos(3)
        134|154 client wifi AE 1 3001 0
        ";
    let both = Script::default().run(script);
    assert_eq!([flow(&both, 0, Down), flow(&both, 0, Up)].map(|row| row.marked_packets), [Some(2), Some(0)]);
    let here = |host| {
        let at = usize::from(host == Server);
        let time = |word: &str| word.split('|').nth(at).unwrap_or(word).to_owned();
        let lines = script.lines().map(str::trim).filter(|line| !line.is_empty()).filter_map(|line| {
            let (times, rest) = line.split_once(' ')?;
            (time(times) != "-").then(|| format!("{} {rest}\n", time(times)))
        });
        Script::at(host).run(&lines.collect::<String>())
    };
    assert_eq!(flow(&here(Client), 0, Down).marked_packets, Some(2));
    assert_eq!(flow(&here(Server), 0, Down).marked_packets, None);
}
