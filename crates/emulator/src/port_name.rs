use std::fmt;
use std::sync::Arc;

/// The host at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// The client.
    Client,
    /// The server.
    Server,
    /// The sender or receiver of cross traffic at the client's end of a link.
    Neighbour,
    /// The one behind the router.
    Peer,
}

impl Host {
    /// All of them.
    pub const ALL: [Host; 4] = [Host::Client, Host::Server, Host::Neighbour, Host::Peer];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Host::Client => "client",
            Host::Server => "server",
            Host::Neighbour => "neighbour",
            Host::Peer => "peer",
        }
    }
}

/// Names a port: the client's and the server's are those of a path, the others those of cross traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortName {
    /// Whose.
    pub host: Host,
    /// Name of the path, or of the cross traffic.
    pub name: Arc<str>,
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}", self.host.name(), self.name)
    }
}
