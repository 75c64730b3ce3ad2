use crate::port_name::Host;
use std::path::{Path, PathBuf};

/// What is written where.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Capture of what passes the client's ports.
    pub client_capture: Option<PathBuf>,
    /// And the server's.
    pub server_capture: Option<PathBuf>,
    /// Whether captures hold payload.
    pub full_payload: bool,
    /// What happened to each packet on its link.
    pub link_log: Option<PathBuf>,
}

/// A host that has a capture of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    Client,
    Server,
}

impl Site {
    pub const ALL: [Site; 2] = [Site::Client, Site::Server];

    /// Of a host, if it has one.
    pub fn of(host: Host) -> Option<Site> {
        match host {
            Host::Client => Some(Site::Client),
            Host::Server => Some(Site::Server),
            Host::Neighbour | Host::Peer => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Site::Client => Host::Client.name(),
            Site::Server => Host::Server.name(),
        }
    }
}

impl Recording {
    /// Where the capture of a site goes.
    pub(crate) fn capture(&self, site: Site) -> Option<&Path> {
        match site {
            Site::Client => self.client_capture.as_deref(),
            Site::Server => self.server_capture.as_deref(),
        }
    }
}
