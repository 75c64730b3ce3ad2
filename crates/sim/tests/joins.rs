//! When subflows are joined: as specified, or with the connection's first SYN.

mod common;

use common::{MS, run_with, wifi_lte};
use serde_json::json;
use sim::{Observer, Outcome};
use wire::mptcp::{MpJoin, Mptcp};
use wire::{CaptureDirection, L4, Packet, TcpOption, Time};

const EPOCH_NS: i64 = 1_735_689_600_000_000_000;

/// When the client sent its MP_JOIN, when data first came by LTE, in milliseconds; and how often who reset.
#[derive(Debug, Default)]
struct Counts {
    joined: Option<i64>,
    came: Option<i64>,
    resets: usize,
}

impl Observer for Counts {
    fn passed(&mut self, at: Time, point: usize, direction: CaptureDirection, packet: &Packet) {
        let L4::Tcp(tcp) = &packet.frame.l4 else { return };
        let ms = (at.as_nanos() - EPOCH_NS) / MS;
        self.resets += usize::from(point < 2 && tcp.flags.has(wire::Flags::RST));
        match (point, direction) {
            (1, CaptureDirection::Outbound) => {
                let join = |option| matches!(option, TcpOption::Mptcp(Mptcp::Join(MpJoin::Syn { .. })));
                if tcp.options.iter().flatten().any(join) {
                    self.joined.get_or_insert(ms);
                }
            }
            (1, CaptureDirection::Inbound) if packet.frame.payload.len > 0 => {
                self.came.get_or_insert(ms);
            }
            _ => {}
        }
    }
}

fn counts(client: &str, server: &str) -> (Outcome, Counts) {
    let mut scenario = wifi_lte(5_000_000);
    scenario["epoch_ns"] = json!(EPOCH_NS);
    // Linux's does not open again what was reset.
    scenario["transport"]["client"]["mptcp"]["path_manager"]["name"] = json!("full-mesh");
    scenario["transport"]["client"]["mptcp"]["join"] = json!(client);
    scenario["transport"]["server"]["mptcp"]["join"] = json!(server);
    let (outcome, counts, _) = run_with(&scenario, Counts::default());
    assert!(outcome.finished, "{outcome:?}");
    (outcome, counts)
}

/// Wi-Fi takes 10 ms each way, LTE 25 ms.
#[test]
fn a_join_with_the_first_syn_is_there_sooner() {
    // Two round trips of Wi-Fi, the second of them the client's data or its answer; then three ways over LTE.
    let (_, late) = counts("specified", "specified");
    // The server's answer waits for the third packet: three ways over Wi-Fi; then three over LTE.
    let (_, soon) = counts("simultaneous", "simultaneous");
    assert_eq!((soon.joined, soon.resets), (Some(0), 0), "{soon:?}");
    assert!((40..45).contains(&late.joined.unwrap()) && late.resets == 0, "{late:?}");
    // 3 · 10 + 3 · 25 = 105 ms against 4 · 10 + 4 · 25 = 140 ms, and what packets take at the rates.
    assert!((105..115).contains(&soon.came.unwrap()), "{soon:?}");
    assert!((140..150).contains(&late.came.unwrap()), "{late:?}");
}

/// RFC 8684 §3.2: a token of nobody. The client joins as specified a second later.
#[test]
fn who_knows_no_early_joins_resets_them() {
    let (_, counts) = counts("simultaneous", "specified");
    assert_eq!((counts.joined, counts.resets), (Some(0), 1), "{counts:?}");
    assert!(counts.came.unwrap() > 1_000, "{counts:?}");
}
