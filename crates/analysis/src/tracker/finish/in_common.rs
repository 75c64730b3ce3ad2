//! Whether the captures of two ends are of one run.

use crate::tracker::connection::Connection;
use rustc_hash::FxHashSet;
use std::net::SocketAddr;
use tables::Diagnostic;

/// Whether the captures of both ends have any connection in common.
#[derive(Default)]
pub(in crate::tracker) struct InCommon {
    some: bool,
    /// Servers of connections that were seen at the client's end only, and at the server's.
    servers: [FxHashSet<SocketAddr>; 2],
}

/// Servers that are remembered of each.
const MOST_SERVERS: usize = 1024;

impl InCommon {
    /// Takes a connection that is over.
    pub(in crate::tracker) fn note(&mut self, connection: &Connection) {
        let alone = match connection.judge_ends() {
            [Some(_), Some(_)] => {
                self.some = true;
                return;
            }
            [one, other] => one.or(other).filter(|_| !connection.midway),
        };
        let Some(sends) = alone.and_then(|end| end.sends) else { return };
        let servers = &mut self.servers[sends as usize];
        if let Some(addresses) = connection.subflows[0].addresses().next()
            && servers.len() < MOST_SERVERS
        {
            servers.insert(addresses.server);
        }
    }

    /// A remark where both show connections with one server, and none is the same.
    pub(in crate::tracker) fn nothing(&self) -> Option<Diagnostic> {
        let message = "the captures of the two ends have no connection in common, although both show connections with the same \
                       server: they are from different runs, or a proxy is between them";
        (!self.some && !self.servers[0].is_disjoint(&self.servers[1])).then(|| Diagnostic {
            diagnostic: "captures_unrelated",
            message: message.into(),
            ..Diagnostic::default()
        })
    }
}
