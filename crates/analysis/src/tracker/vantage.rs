//! Which end a capture was taken at.

use tables::Direction;

/// What tells the ends apart: how fast each side answered, as seen here. The near side answers at once, the far side
/// after a round trip.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// In handshakes: nanoseconds until the client, and until the server, answered.
    handshakes: [u64; 2],
    /// Answers to data, a bounded number of the first: acknowledgements by the client, and by the server.
    answers: [Vec<u64>; 2],
    /// Packets that the capture says left the host: from the client, and from the server.
    outbound: [u64; 2],
    /// Packets that the capture says came to the host.
    inbound: [u64; 2],
}

/// The end, and how sure that is (0.5 to 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Vantage {
    /// `Up`: the client sends from here.
    pub(super) sends: Direction,
    pub(super) confidence: f64,
}

/// Below this the capture may as well have been taken in the middle.
const LEAST_CONFIDENCE: f64 = 0.6;
/// A handshake this lopsided, and this long, needs no second opinion.
const CLEAR_CONFIDENCE: f64 = 0.8;
const CLEAR_NANOS: u64 = 1_000_000;
const MOST_ANSWERS: usize = 64;

impl Evidence {
    /// The side that sends in direction `by` answered within a handshake.
    pub(super) fn handshake(&mut self, by: Direction, nanos: u64) {
        let waited = &mut self.handshakes[by as usize];
        *waited = waited.saturating_add(nanos);
    }

    /// The side that sends in direction `by` acknowledged data.
    pub(super) fn answer(&mut self, by: Direction, nanos: u64) {
        let answers = &mut self.answers[by as usize];
        if answers.len() < MOST_ANSWERS {
            answers.push(nanos);
        }
    }

    pub(super) fn direction(&mut self, by: Direction, way: wire::Direction) {
        match way {
            wire::Direction::Outbound => self.outbound[by as usize] += 1,
            wire::Direction::Inbound => self.inbound[by as usize] += 1,
        }
    }

    pub(super) fn vantage(&self) -> Option<Vantage> {
        let told = [0, 1].map(|side: usize| self.outbound[side] + self.inbound[1 - side]);
        if told[0] != told[1] {
            let [client, server] = told;
            return sure(
                if client > server { Direction::Up } else { Direction::Down },
                client.max(server),
                client + server,
            );
        }
        let [client, server] = self.handshakes;
        let by_handshake = of(client, server);
        if client.max(server) >= CLEAR_NANOS && by_handshake.is_some_and(|v| v.confidence >= CLEAR_CONFIDENCE) {
            return by_handshake;
        }
        match (median(&self.answers[0]), median(&self.answers[1])) {
            (Some(a), Some(b)) => of(a.saturating_add(client), b.saturating_add(server)),
            // One side sent all the data: the other's answers stand against the first's in the handshake.
            (Some(a), None) if server > 0 => of(a, server),
            (None, Some(b)) if client > 0 => of(client, b),
            _ => by_handshake,
        }
    }
}

/// Whether a handshake leaves no doubt about who is near.
pub(super) fn is_clear(opener_nanos: u64, acceptor_nanos: u64) -> bool {
    let (least, most) = (opener_nanos.min(acceptor_nanos), opener_nanos.max(acceptor_nanos));
    most >= CLEAR_NANOS && least <= most / 4
}

/// The side that answers faster is the near one.
fn of(client_nanos: u64, server_nanos: u64) -> Option<Vantage> {
    let sends = if client_nanos < server_nanos { Direction::Up } else { Direction::Down };
    sure(sends, client_nanos.max(server_nanos), client_nanos.saturating_add(server_nanos))
}

fn sure(sends: Direction, part: u64, whole: u64) -> Option<Vantage> {
    let confidence = part as f64 / whole as f64;
    (whole > 0 && confidence >= LEAST_CONFIDENCE).then_some(Vantage { sends, confidence })
}

fn median(values: &[u64]) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}
