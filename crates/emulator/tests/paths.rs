//! What crosses a link between two namespaces.

mod common;

use common::seen::{capture, receive, send};
use common::{Lab, MS, both_directions, inside, ip, is_possible, lines, scenario, udp};
use emulator::Host;
use link::{Direction, Reason};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

#[test]
fn datagrams_take_their_time_and_none_is_lost() {
    if !is_possible() {
        return;
    }
    let links = json!({"home": both_directions(json!([{"element": "delay", "delay": 10 * MS}]))});
    let mut lab = Lab::new("delay", scenario(links, &[("wifi", "home")], json!([]), json!([])));
    let (client, server) = (udp(&lab.client, "10.0.1.2:5001"), udp(&lab.server, "10.9.1.1:5001"));
    lab.emulator.start().unwrap();
    send(&client, "10.9.1.1:5001", 0..200, Duration::from_millis(1));
    let up: Vec<u64> = receive(&server).into_iter().map(|(number, _)| number).collect();
    assert_eq!(up, (0..200).collect::<Vec<_>>());
    send(&server, "10.0.1.2:5001", 200..400, Duration::from_micros(200));
    let down: Vec<u64> = receive(&client).into_iter().map(|(number, _)| number).collect();
    assert_eq!(down, (200..400).collect::<Vec<_>>());
    assert!(lab.emulator.is_running());
    let summary = lab.emulator.stop().unwrap().unwrap();

    let ((at_client, sent, _), (at_server, received, _)) =
        (capture(&lab.client_capture()), capture(&lab.server_capture()));
    assert_eq!(at_client, [("client:wifi".into(), Some(0))]);
    assert_eq!(at_server, [("server:wifi".into(), Some(0))]);
    assert_eq!((sent.len(), received.len()), (400, 400));
    for number in 0..400 {
        let find = |seen: &[common::seen::Datagram]| *seen.iter().find(|seen| seen.number == number).unwrap();
        let (near, far) = (find(&sent), find(&received));
        assert_eq!((near.outbound, far.outbound), (number < 200, number >= 200));
        let taken = if near.outbound { far.at - near.at } else { near.at - far.at };
        // Close ones leave together, half a pause early at most.
        assert!((10 * MS - 10 * MS / 40..1_000 * MS).contains(&taken), "{number} took {taken} ns");
        assert!(near.at >= summary.started && far.at <= summary.ended);
    }
    let (name, counts) = &summary.links[0];
    assert_eq!((&**name, counts.packets, counts.bytes), ("home", [200, 200], [200 * 128; 2]));
    assert!(counts.drops.is_empty(), "{:?}", counts.drops);
    assert!(counts.lateness.count() > 0);
    for (port_name, counts) in &summary.ports {
        assert_eq!((counts.received - counts.local, counts.sent, counts.refused), (200, 200, 0), "{port_name}");
    }
    let log = lines(&lab.scratch.file("links.csv"));
    assert_eq!(log[0], "at_ns,link,direction,event,bytes,reason,element,queued_bytes,queued_packets");
    let of = |what: &str| log.iter().filter(|line| line.contains(what)).count();
    assert_eq!((of(",home,up,arrival,128,,,"), of(",home,down,departure,128,,,"), log.len()), (200, 200, 801));
    assert_eq!(summary.records.link_log, Some([800, 0]));
}

#[test]
fn a_stream_is_whole_and_its_segments_are_captured_as_a_wire_has_them() {
    if !is_possible() {
        return;
    }
    let elements = json!([
        {"element": "rate", "rate": 100_000_000, "queue": {"queue": "drop-tail", "bytes": 300_000}},
        {"element": "delay", "delay": 5 * MS},
    ]);
    let links = json!({"home": both_directions(elements)});
    let mut lab = Lab::new("stream", scenario(links, &[("wifi", "home")], json!([]), json!([])));
    let listener = inside(&lab.server, || TcpListener::bind("10.9.1.1:8080").unwrap());
    lab.emulator.start().unwrap();
    let data: Vec<u8> = (0..4_000_000_u32).map(|number| (number % 251) as u8).collect();
    let sent = data.clone();
    let server = thread::spawn(move || listener.accept().unwrap().0.write_all(&sent).unwrap());
    let mut client = inside(&lab.client, || TcpStream::connect("10.9.1.1:8080").unwrap());
    let mut got = Vec::new();
    client.read_to_end(&mut got).unwrap();
    server.join().unwrap();
    assert!(got == data, "{} bytes", got.len());
    let summary = lab.emulator.stop().unwrap().unwrap();
    let (_, _, packets) = capture(&lab.client_capture());
    assert!(packets > 4_000_000 / 1448, "{packets}");
    for (port_name, [written, lost]) in &summary.records.captures {
        let counts = summary.ports.iter().find(|(port, _)| port == port_name).unwrap().1;
        assert_eq!(
            (*written, *lost),
            (counts.received - counts.local + counts.sent + counts.refused, 0),
            "{port_name}"
        );
    }
}

#[test]
fn what_a_link_loses_is_counted() {
    if !is_possible() {
        return;
    }
    let links = json!({"home": {"uplink": [{"element": "loss", "ratio": 0.3}], "downlink": []}});
    let mut lab = Lab::new("loss", scenario(links, &[("wifi", "home")], json!([]), json!([])));
    let (client, server) = (udp(&lab.client, "10.0.1.2:5001"), udp(&lab.server, "10.9.1.1:5001"));
    lab.emulator.start().unwrap();
    let receiver = thread::spawn(move || receive(&server).len() as u64);
    send(&client, "10.9.1.1:5001", 0..1000, Duration::from_micros(100));
    let received = receiver.join().unwrap();
    let summary = lab.emulator.stop().unwrap().unwrap();
    let lost = summary.links[0].1.drops[&(Direction::Up, Reason::Loss)];
    assert_eq!(received + lost, 1000);
    // Five standard deviations.
    assert!((228..=372).contains(&lost), "{lost}");
    let drops = lines(&lab.scratch.file("links.csv")).iter().filter(|line| line.contains(",drop,")).count();
    assert_eq!(drops as u64, lost);
}

#[test]
fn cross_traffic_and_paths_share_a_link() {
    if !is_possible() {
        return;
    }
    let links = json!({"home": both_directions(json!([{"element": "delay", "delay": MS}])), "tower": both_directions(json!([]))});
    let udp_traffic = json!([{
        "kind": "udp", "name": "noise", "link": "home", "direction": "up", "start_ns": 0, "stop_ns": null,
        "rate_bits_per_second": 1000, "packet_bytes": 100,
    }]);
    let paths = [("wifi", "home"), ("desk", "home"), ("lte", "tower")];
    let mut lab = Lab::new("cross", scenario(links, &paths, json!([]), udp_traffic));
    let [neighbour, peer] = scenario::form::CrossTraffic::addresses(0);
    let neighbour = udp(&lab.neighbours, &format!("{neighbour}:7000"));
    let peer_socket = udp(&lab.peers, &format!("{peer}:7000"));
    let server = udp(&lab.server, "10.9.1.1:5001");
    lab.emulator.start().unwrap();
    for number in 1..=3 {
        let client = udp(&lab.client, &format!("10.0.{number}.2:5001"));
        let name = paths[number - 1].0;
        ip(&lab.client, &format!("route replace 10.9.1.1/32 dev {name} src 10.0.{number}.2"));
        send(&client, "10.9.1.1:5001", number as u64..number as u64 + 1, Duration::from_millis(20));
        let (number_read, from) = receive(&server)[0];
        assert_eq!((number_read, from.ip().to_string()), (number as u64, format!("10.0.{number}.2")));
        send(&server, &format!("10.0.{number}.2:5001"), 10..11, Duration::ZERO);
        assert_eq!(receive(&client)[0].0, 10);
    }
    send(&neighbour, &format!("{peer}:7000"), 20..21, Duration::ZERO);
    let (number_read, from) = receive(&peer_socket)[0];
    assert_eq!(number_read, 20);
    send(&peer_socket, &from.to_string(), 21..22, Duration::ZERO);
    assert_eq!(receive(&neighbour)[0].0, 21);
    let summary = lab.emulator.stop().unwrap().unwrap();
    let packets: Vec<_> = summary.links.iter().map(|(name, counts)| (&**name, counts.packets)).collect();
    assert_eq!(packets, [("home", [3, 3]), ("tower", [1, 1])]);
    // Nobody captures cross traffic.
    assert!(
        summary.records.captures.iter().all(|(port_name, _)| matches!(port_name.host, Host::Client | Host::Server))
    );
    assert_eq!(summary.records.captures.len(), 6);
}
