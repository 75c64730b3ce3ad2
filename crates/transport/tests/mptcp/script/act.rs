//! What the application or the host does, and what must be true.

use super::{PORT, Player};
use std::net::SocketAddr;
use transport::Nic;
use wire::TooBig;

impl Player {
    pub(super) fn act(&mut self, words: &[&str]) {
        let now = self.now;
        let number = || words[1].parse::<u64>().unwrap();
        match words[0] {
            "connect" => {
                self.client = true;
                let (nic, local, remote) = self.addresses(words.get(1).unwrap_or(&"wifi"));
                self.endpoint.address_up(now, Nic(nic), local, 1500);
                let (local, remote) = (SocketAddr::new(local, 0), SocketAddr::new(remote, PORT));
                let id = self.endpoint.connect(now, local, remote);
                self.speak(id);
            }
            // The server's address is there, and perhaps others.
            "listen" => {
                for label in words.iter().skip(1).chain(&["wifi"]) {
                    let (_, _, address) = self.addresses(label);
                    self.endpoint.address_up(now, Nic(0), address, 1500);
                }
            }
            "up" | "down" => {
                let (path, client, server) = self.addresses(words[1]);
                let (nic, address) = if self.client { (path, client) } else { (0, server) };
                match words[0] {
                    "up" => self.endpoint.address_up(now, Nic(nic), address, 1500),
                    _ => self.endpoint.address_down(now, address),
                }
            }
            // A router says that what it got from there is too big: path, sequence number, bytes that pass.
            "too_big" => {
                let flow = self.flows[words[1]];
                let [seq, mtu_bytes] = [2, 3].map(|at| words[at].parse::<u32>().unwrap());
                let (source, destination) = (flow.local, flow.remote);
                self.endpoint.too_big(&TooBig { mtu_bytes, source, destination, seq: flow.isn.wrapping_add(seq) });
            }
            "pause" => self.reading = false,
            "read" => {
                self.reading = true;
                self.application();
            }
            act => {
                let id = self.connection.expect("a connection");
                match act {
                    "write" => assert_eq!(self.endpoint.write(id, number()), number()),
                    // What there is room for.
                    "offer" => drop(self.endpoint.write(id, number())),
                    "finish" => self.endpoint.finish(now, id),
                    "abort" => self.endpoint.abort(now, id),
                    _ => panic!("what is {act}?"),
                }
            }
        }
    }

    pub(super) fn fact(&mut self, name: &str) -> String {
        self.application();
        let snapshot = self.snapshot();
        let of = |fact: &dyn Fn(&transport::Snapshot) -> String| snapshot.as_ref().map_or("none".into(), fact);
        match name {
            "events" => std::mem::take(&mut self.events).join(" "),
            "read" => self.read.to_string(),
            "mptcp" => of(&|snapshot| snapshot.mptcp.to_string()),
            "corrupt" => of(&|snapshot| snapshot.corrupt_bytes.to_string()),
            "waiting" => of(&|snapshot| snapshot.unacknowledged_bytes.to_string()),
            "window" => of(&|snapshot| snapshot.peer_window_bytes.to_string()),
            "ahead" => of(&|snapshot| snapshot.out_of_order_bytes.to_string()),
            // Congestion windows, in packets.
            "windows" => of(&|snapshot| {
                let path = |subflow: &transport::SubflowSnapshot| subflow.path.map_or(0, |path| path.cwnd_packets);
                snapshot.subflows.iter().map(|subflow| path(subflow).to_string()).collect::<Vec<_>>().join(" ")
            }),
            "subflows" => of(&|snapshot| snapshot.subflows.len().to_string()),
            _ => panic!("what is {name}?"),
        }
    }
}
