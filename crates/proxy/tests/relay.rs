//! What a proxy passes on, what it does not, and how much it holds.

mod common;

use common::{Bench, CLIENT, PORT, SERVER};
use link::Direction;
use serde_json::{Value, json};
use transport::path_manager::Closed;
use transport::{Config, ConnectionId, Event, Outcome};
use wire::{Flags, TcpOption};

const S: i64 = 1_000_000_000;
/// The first connection of the server.
const THERE: ConnectionId = ConnectionId(0);

fn proxy() -> Value {
    json!({"element": "proxy"})
}

fn listening(settings: &Value) -> Bench {
    let mut bench = Bench::new(settings, [Config::default(), Config::default()]);
    bench.ends[1].listen(PORT);
    bench
}

#[test]
fn it_is_the_server_to_the_client_and_the_client_to_the_server() {
    let mut bench = listening(&proxy());
    let here = bench.connect();
    bench.run(S);
    let seen = bench.ends[1].snapshot(THERE).unwrap();
    assert_eq!(seen.subflows[0].remote, format!("{CLIENT}:5000").parse().unwrap());
    let seen = bench.ends[0].snapshot(here).unwrap();
    assert_eq!(seen.subflows[0].remote, format!("{SERVER}:{PORT}").parse().unwrap());
    let syn = bench.segments(Direction::Up).find(|tcp| tcp.flags.has(Flags::SYN)).unwrap();
    assert!(!syn.options.iter().any(|option| matches!(option, Ok(TcpOption::Mptcp(_)))), "no option passes");
    let [client, server] = &bench.ends;
    assert!(!client.snapshot(here).unwrap().mptcp && !server.snapshot(THERE).unwrap().mptcp, "RFC 8684 §3.7");
}

// Who accepts first and connects then (accept and connect of a socket) calls no server for a client that goes away.
#[test]
fn the_server_is_called_once_the_client_is_there() {
    let mut bench = listening(&proxy());
    bench.connect();
    bench.run(S);
    let first = bench.segments(Direction::Down).next().unwrap();
    assert!(first.flags.has(Flags::SYN.with(Flags::ACK)), "its own answer, before the server's");
    let flags = |direction| bench.segments(direction).map(|tcp| tcp.flags).collect::<Vec<_>>();
    assert_eq!(flags(Direction::Up), [Flags::SYN, Flags::ACK]);
}

#[test]
fn each_direction_ends_by_itself() {
    let mut bench = listening(&proxy());
    let here = bench.connect();
    bench.run(S);
    bench.ends[0].write(here, 10_000);
    bench.ends[0].finish(bench.now, here);
    bench.run(S);
    assert!(bench.saw(1, |event| *event == Event::Finished), "the client's end passes");
    assert!(!bench.saw(0, |event| *event == Event::Finished), "the server has not ended");
    assert_eq!(bench.ends[1].read(bench.now, THERE, u64::MAX), 10_000);
    // Half closed: the other direction goes on.
    bench.ends[1].write(THERE, 20_000);
    bench.run(S);
    assert_eq!(bench.ends[0].read(bench.now, here, u64::MAX), 20_000);
    bench.ends[1].finish(bench.now, THERE);
    bench.run(S);
    for end in 0..2 {
        assert!(bench.saw(end, |event| *event == Event::Closed(Outcome::Complete)), "{:?}", bench.events[end]);
    }
}

#[test]
fn a_reset_of_either_end_reaches_the_other() {
    for resets in 0..2 {
        let mut bench = listening(&proxy());
        let here = bench.connect();
        bench.run(S);
        let connection = [here, THERE][resets];
        bench.ends[resets].abort(bench.now, connection);
        bench.run(S);
        let reset = Event::Closed(Outcome::Failed(Closed::Reset));
        assert!(bench.saw(1 - resets, |event| *event == reset), "{:?}", bench.events);
    }
}

#[test]
fn a_server_that_refuses_resets_the_client() {
    let mut bench = Bench::new(&proxy(), [Config::default(), Config::default()]);
    bench.connect();
    bench.run(S);
    assert!(bench.saw(0, |event| *event == Event::Connected), "the proxy took it");
    assert!(bench.saw(0, |event| *event == Event::Closed(Outcome::Failed(Closed::Reset))), "{:?}", bench.events[0]);
}

// RFC 8684 §3.2: a SYN/ACK without MP_JOIN is reset.
#[test]
fn a_join_is_answered_without_the_option_and_calls_nobody() {
    let mut bench = listening(&proxy());
    let mut join = Box::new(host::blank());
    let mut client = transport::Endpoint::new(Config::default(), 5);
    client.address_up(bench.now, transport::Nic(0), CLIENT.parse().unwrap(), 1500);
    let ends = [format!("{CLIENT}:6000"), format!("{SERVER}:{PORT}")].map(|end| end.parse().unwrap());
    client.connect(bench.now, ends[0], ends[1]);
    client.transmit(bench.now, &mut join).unwrap();
    let tcp = join.frame.l4.to_tcp();
    tcp.options = wire::Options::NONE;
    let syn = wire::mptcp::MpJoin::Syn { backup: false, address_id: 1, token: 3, nonce: 4 };
    tcp.options.push(&TcpOption::Mptcp(wire::mptcp::Mptcp::Join(syn))).unwrap();
    let mut out = link::Out::default();
    bench.proxy.push(bench.now, Direction::Up, join, &mut out);
    let [(Direction::Down, answer)] = &out.sent[..] else { panic!("{:?}", out.sent) };
    let wire::L4::Tcp(tcp) = &answer.frame.l4 else { panic!("{answer:?}") };
    assert!(tcp.flags.has(Flags::SYN.with(Flags::ACK)));
    assert!(!tcp.options.iter().any(|option| matches!(option, Ok(TcpOption::Mptcp(_)))));
}

#[test]
fn it_holds_no_more_than_its_buffer() {
    const BUFFER: u64 = 100_000;
    const ALL: u64 = 1_000_000;
    let mut bench = listening(&json!({"element": "proxy", "buffer": BUFFER}));
    let here = bench.connect();
    bench.run(S);
    let (mut written, mut read) = (0, 0);
    let mut most = 0;
    for _ in 0..400 {
        written += bench.ends[0].write(here, ALL - written);
        bench.run(S / 100);
        let unacknowledged = bench.ends[0].snapshot(here).unwrap().unacknowledged_bytes;
        // What the proxy has: acknowledged to the client and not come to the server.
        let held = written - unacknowledged - read - bench.ends[1].readable(THERE);
        assert!(held <= BUFFER, "{held} bytes");
        most = most.max(held);
        // The server reads more slowly than the client writes.
        read += bench.ends[1].read(bench.now, THERE, 5_000);
    }
    assert!(most > BUFFER / 2, "it was pressed: {most} bytes");
    assert_eq!(read, ALL);
    assert_eq!(bench.ends[1].snapshot(THERE).unwrap().corrupt_bytes, 0);
}

#[test]
fn what_it_knows_nothing_of_passes() {
    let mut bench = listening(&proxy());
    bench.connect();
    let mut out = link::Out::default();
    for direction in [Direction::Up, Direction::Down] {
        // No SYN, and no connection that began here.
        let mut packet = Box::new(host::blank());
        packet.frame.l4.to_tcp().flags = Flags::ACK;
        bench.proxy.push(bench.now, direction, packet, &mut out);
        bench.proxy.push(bench.now, direction, Box::new(host::blank()), &mut out);
    }
    let directions: Vec<_> = out.sent.iter().map(|(direction, _)| *direction).collect();
    assert_eq!(directions, [Direction::Up, Direction::Up, Direction::Down, Direction::Down]);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |settings: Value, wanted: &str| {
        let origin = proxy::Origin { addresses: Vec::new(), port: PORT, service: None, object: None };
        let error = proxy::build(&settings, 1, wire::Time::from_nanos(0), origin).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    refused(json!({"element": "proxy", "buffer": 100}), "parameter `buffer`: must be at least");
    refused(
        json!({"element": "proxy", "initial_window": 0}),
        "parameter `initial_window`: must be at least one packet",
    );
    refused(json!({"element": "proxy", "congestion_control": "x"}), "parameter `congestion_control`: there is no");
    refused(json!({"element": "proxy", "cached": true}), "parameter `cached`: an upload cannot be cached");
    refused(json!({"element": "proxy", "caches": true}), "parameter `caches`: only downloads by request-response");
    refused(
        json!({"element": "proxy", "cached": true, "caches": true}),
        "parameter `caches`: has no effect with `cached`",
    );
    refused(json!({"element": "proxy", "cache": true}), "parameter `cache`: is unknown");
}
