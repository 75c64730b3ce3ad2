//! SYNs that asked for MPTCP and were not answered, before one that did not ask was: what became of them, as far as captures tell.

use super::ends::JudgedEnd;
use crate::tracker::connection::Connection;
use crate::tracker::pending::LEFT_OUT;
use tables::{Diagnostic, Direction};

impl Connection {
    pub(super) fn left_out(&self, ends: &[Option<JudgedEnd>; 2]) -> Option<Diagnostic> {
        let first = self.subflows.first().filter(|_| self.fallback == Some(LEFT_OUT))?;
        let asked_at = |sends| {
            let end = (0..2).find(|&end: &usize| ends[end].is_some_and(|judged| judged.sends == Some(sends)))?;
            first.views[end].as_ref().map(|view| view.handshake.asked)
        };
        let [client, server] = [Direction::Up, Direction::Down].map(asked_at);
        let [_, asked] = client.or(server)?;
        Some(Diagnostic {
            subflow: Some(0),
            diagnostic: "capable_left_out",
            count: Some(asked.into()),
            message: became(client, server).into(),
            ..Diagnostic::default()
        })
    }
}

/// SYNs without the option and with it that left the client, and that came to the server.
fn became(client: Option<[u32; 2]>, server: Option<[u32; 2]>) -> &'static str {
    match (client, server) {
        (_, Some([0, came])) if came > 0 => {
            "SYNs with MP_CAPABLE arrived at the server, but its answers did not arrive: they were lost, or a middlebox dropped them"
        }
        (_, Some([_, came])) if came > 0 => {
            "SYNs with MP_CAPABLE arrived at the server, but it answered only the one without: the server, or a firewall on it, drops them"
        }
        (Some([left, _]), Some([came, 0])) if left > came => {
            "SYNs with MP_CAPABLE were lost on the path, and so was one without: the path lost both kinds"
        }
        (Some(_), Some(_)) => {
            "SYNs with MP_CAPABLE were lost on the path, but the first one without arrived: chance, or a middlebox drops them"
        }
        (Some([left, _]), None) if left > 1 => {
            "SYNs with MP_CAPABLE were not answered, and neither was the first one without: the path lost both kinds"
        }
        _ => {
            "SYNs with MP_CAPABLE were not answered, but the first one without was: chance, or a middlebox or the server drops them; \
             this capture cannot show which"
        }
    }
}
