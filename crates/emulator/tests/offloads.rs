//! GSO packets against the kernel itself: it cuts what we merged into the very packets that we merged, streams arrive
//! whole through every mix of devices, and options survive.

mod common;
mod forwarding;

use common::{inside, ip, is_possible};
use emulator::device::{Device, Offload};
use emulator::{Namespace, within};
use forwarding::{Flow, Forwarder, transfer};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};

const BYTES: usize = 3_000_000;

fn tun(space: &Namespace, name: &str, offload: Offload) -> Device {
    within(space.as_fd(), || Device::tun(name, offload)).unwrap()
}

/// A device with both addresses of a network's host.
fn addressed(space: &Namespace, name: &str, network: u8, host: u8) {
    ip(space, &format!("address add 10.{network}.0.{host}/24 dev {name}"));
    ip(space, &format!("address add fd00:{network}::{host}/64 dev {name} nodad"));
    ip(space, &format!("link set {name} up"));
}

fn set(space: &Namespace, setting: &str, value: &str) {
    inside(space, || std::fs::write(format!("/proc/sys/net/{setting}"), value).unwrap());
}

/// Ends that hand over and take what they will.
#[test]
fn streams_are_whole_through_any_two_devices() {
    if !is_possible() {
        return;
    }
    use Offload::{None, Split, SplitAndMerge};
    for offloads in
        [[SplitAndMerge; 2], [SplitAndMerge, None], [None, SplitAndMerge], [Split, SplitAndMerge], [None; 2]]
    {
        let spaces = [Namespace::new().unwrap(), Namespace::new().unwrap()];
        let devices = [0, 1].map(|end| tun(&spaces[end], "wire", offloads[end]));
        stream_both_directions(&spaces, devices, &format!("{offloads:?}"));
    }
}

#[test]
fn streams_are_whole_through_packet_sockets() {
    if !is_possible() {
        return;
    }
    for offload in [Offload::None, Offload::Split, Offload::SplitAndMerge] {
        let spaces = [Namespace::new().unwrap(), Namespace::new().unwrap()];
        let middle = Namespace::new().unwrap();
        let devices = [0, 1].map(|end| {
            ip(&spaces[end], "link add wire type veth peer name other");
            ip(&spaces[end], &format!("link set other name other{end}"));
            forwarding::move_to(&spaces[end], &format!("other{end}"), &middle);
            ip(&middle, &format!("link set other{end} up"));
            ip(&spaces[end], "link set wire arp off");
            let mac = forwarding::mac(&spaces[end], "wire");
            within(middle.as_fd(), || Device::packet(&format!("other{end}"), mac, offload)).unwrap()
        });
        stream_both_directions(&spaces, devices, &format!("packet sockets, {offload:?}"));
    }
}

fn stream_both_directions(spaces: &[Namespace; 2], devices: [Device; 2], what: &str) {
    addressed(&spaces[0], "wire", 1, 1);
    addressed(&spaces[1], "wire", 1, 2);
    let forwarder = Forwarder::start(devices, |_, _| {});
    for (client, server) in [("10.1.0.1", "10.1.0.2:80"), ("fd00:1::1", "[fd00:1::2]:80")] {
        for from in [0, 1] {
            let flow = Flow { client: &spaces[0], server: &spaces[1], from, is_multipath: false };
            transfer(&flow, client, server, BYTES).unwrap_or_else(|fault| panic!("{what}, {server}, {from}: {fault}"));
        }
    }
    forwarder.stop();
}

/// Merged packets go to a router whose way out has no offloads: the kernel cuts them again. They must be the packets
/// that were merged, but for the hop.
#[test]
fn the_kernel_cuts_what_was_merged_into_the_same_packets() {
    if !is_possible() {
        return;
    }
    for is_multipath in [false, true] {
        let spaces: [Namespace; 3] = std::array::from_fn(|_| Namespace::new().unwrap());
        let [client, router, server] = &spaces;
        let in_front = [tun(client, "wire", Offload::SplitAndMerge), tun(router, "front", Offload::SplitAndMerge)];
        let behind = [tun(router, "back", Offload::None), tun(server, "wire", Offload::None)];
        for (space, name, network, host) in
            [(client, "wire", 1, 1), (router, "front", 1, 2), (router, "back", 2, 1), (server, "wire", 2, 2)]
        {
            addressed(space, name, network, host);
        }
        for (end, gateway) in [(client, 1), (server, 2)] {
            let router = if gateway == 1 { 2 } else { 1 };
            ip(end, &format!("route add default via 10.{gateway}.0.{router}"));
            ip(end, &format!("route add default via fd00:{gateway}::{router}"));
            // Marks below are answered, so that the one who sends says CWR.
            set(end, "ipv4/tcp_ecn", "1");
            set(end, "mptcp/enabled", "1");
        }
        ip(router, "link set back txqueuelen 10000");
        set(router, "ipv4/ip_forward", "1");
        set(router, "ipv6/conf/all/forwarding", "1");
        let merged = Arc::new(Mutex::new(Vec::new()));
        let cut = Arc::new(Mutex::new(Vec::new()));
        let (into, onto) = (Arc::clone(&merged), Arc::clone(&cut));
        // Not what the router itself has to say.
        let server_addresses: [IpAddr; 2] = ["10.2.0.2", "fd00:2::2"].map(|address| address.parse().unwrap());
        let mut count = 0;
        let front = Forwarder::start(in_front, move |from, packet| {
            if from == 0 && server_addresses.contains(&packet.frame.ip.destination) {
                count += 1;
                if count % 500 == 0 && packet.frame.ip.tos & 3 == 2 {
                    packet.frame.ip.tos |= 3;
                }
                let mut routed = packet.clone();
                routed.frame.ip.ttl -= 1;
                into.lock().unwrap().push(forwarding::bytes(&routed));
            }
        });
        let back = Forwarder::start(behind, move |from, packet| {
            if from == 0 && server_addresses.contains(&packet.frame.ip.destination) {
                onto.lock().unwrap().push(forwarding::bytes(packet));
            }
        });
        for (local, remote) in [("10.1.0.1", "10.2.0.2:80"), ("fd00:1::1", "[fd00:2::2]:80")] {
            let flow = Flow { client, server, from: 0, is_multipath };
            transfer(&flow, local, remote, BYTES).unwrap();
            if !is_multipath {
                forwarding::datagrams(client, local, remote);
            }
        }
        let sent = front.stop();
        back.stop();
        assert!(sent[1].frames * 4 < sent[1].packets, "merged: {sent:?}");
        let (merged, cut) = (merged.lock().unwrap(), cut.lock().unwrap());
        let mut expected = merged.iter();
        let strange = cut.iter().find(|packet| !expected.any(|other| other == *packet));
        assert_eq!(strange, None);
        // A router's queue may overflow.
        assert!(cut.len() * 10 > merged.len() * 9, "{} of {}", cut.len(), merged.len());
    }
}
