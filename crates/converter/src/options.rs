//! The command line.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// What a NAT keeps a connection for at least (RFC 5382 §5, REQ-5).
const IDLE_SECONDS: u64 = 7440;

pub const USAGE: &str = "\
usage: mptcplab-convert client --listen ADDRESS:PORT (--to ADDRESS:PORT | --transparent) [--converter ADDRESS:PORT]
       mptcplab-convert server --listen ADDRESS:PORT (--to ADDRESS:PORT | --transparent | --allow NETWORK... [--cookies])

Converts between TCP and MPTCP at the client's or at the server's end of several paths:

  TCP client - mptcplab-convert client = several paths = mptcplab-convert server - TCP server

Either is of use alone, too: before a server, or behind a client, that speaks MPTCP itself. The path manager is the kernel's (ip mptcp).

  --listen ADDRESS:PORT     where connections come in: TCP at the client's end, MPTCP (and TCP) at the server's
  --to ADDRESS:PORT         the server, the same for all connections
  --transparent             the server is whom the client connects to: routes or nftables (tproxy) bring its packets here. Needs
                            CAP_NET_ADMIN
  --converter ADDRESS:PORT  the converter at the server's end: it learns the server from the Convert Protocol (RFC 8803), in the SYN
                            where net.ipv4.tcp_fastopen allows it. Without it, connections go to the server itself

At the server's end, without --to and --transparent, clients name the server by the Convert Protocol.

  --allow NETWORK           clients that may connect, such as 10.0.0.0/8, all of IPv4 0.0.0.0/0; others are not authorised
  --cookies                 clients have to send back a cookie, which shows that they receive what is sent to their address
  --congestion-control NAME of connections of MPTCP; the host's if not given
  --connections N           connections at once; 1000 if not given
  --idle SECONDS            reset connections on which nothing moved for so long; 7440 if not given
  --json                    a line of JSON for each connection that has ended
  --version                 say which version this is
";

/// At which end of the paths it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    Client,
    Server,
}

/// How the server of a connection is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// It is always the same.
    Fixed(SocketAddr),
    /// It is whom the client connected to.
    Transparent,
    /// The client says it by the Convert Protocol.
    Named,
}

/// What was asked for.
pub struct Options {
    pub end: End,
    pub listen: SocketAddr,
    pub server: Server,
    /// The other converter, if the server is named to it.
    pub converter: Option<SocketAddr>,
    /// The networks of clients that may connect; all, if empty.
    pub allow: Vec<(IpAddr, u8)>,
    pub cookies: bool,
    pub congestion_control: Option<String>,
    pub connections: usize,
    pub idle: Duration,
    pub json: bool,
}

/// What is to be done.
pub enum Asked {
    Convert(Options),
    Say(String),
}

/// Reads them.
pub fn read(mut arguments: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut end = None;
    let (mut listen, mut to, mut converter, mut transparent) = (None, None, None, false);
    let (mut congestion_control, mut idle) = (None, IDLE_SECONDS);
    let (mut allow, mut cookies, mut connections, mut json) = (Vec::new(), false, 1000, false);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "client" if end.is_none() => end = Some(End::Client),
            "server" if end.is_none() => end = Some(End::Server),
            "--listen" => listen = Some(address(&argument, &value()?)?),
            "--to" => to = Some(address(&argument, &value()?)?),
            "--converter" => converter = Some(address(&argument, &value()?)?),
            "--transparent" => transparent = true,
            "--allow" => allow.push(network(&value()?)?),
            "--cookies" => cookies = true,
            "--congestion-control" => congestion_control = Some(value()?),
            "--connections" => {
                let text = value()?;
                let number = text.parse().ok().filter(|&number| number > 0);
                connections = number.ok_or(format!("--connections: {text} is not a number of connections"))?;
            }
            "--idle" => {
                let text = value()?;
                let seconds = text.parse().ok().filter(|&seconds| seconds > 0);
                idle = seconds.ok_or(format!("--idle: {text} is not a number of seconds"))?;
            }
            "--json" => json = true,
            "--version" => return Ok(Asked::Say(format!("mptcplab-convert {}\n", env!("CARGO_PKG_VERSION")))),
            "--help" | "-h" => return Ok(Asked::Say(USAGE.into())),
            _ => return Err(format!("unknown argument {argument}; try --help")),
        }
    }
    let end = end.ok_or("say at which end of the paths this is: client or server; try --help")?;
    let listen = listen.ok_or("needs --listen ADDRESS:PORT")?;
    let server = match (to, transparent) {
        (Some(_), true) => return Err("--to and --transparent exclude each other".into()),
        (Some(address), false) => Server::Fixed(address),
        (None, true) => Server::Transparent,
        (None, false) => Server::Named,
    };
    let is_named = server == Server::Named;
    if end == End::Client && is_named {
        return Err("client needs --to ADDRESS:PORT or --transparent".into());
    }
    if end == End::Server && converter.is_some() {
        return Err("--converter is for the client's end: it names this one".into());
    }
    if is_named && allow.is_empty() {
        return Err("server needs --to ADDRESS:PORT, --transparent, or --allow NETWORK: it connects those clients to whomever they name".into());
    }
    if !is_named && (cookies || !allow.is_empty()) {
        return Err(
            "--allow and --cookies are of the Convert Protocol: without --to and --transparent at the server's end"
                .into(),
        );
    }
    Ok(Asked::Convert(Options {
        end,
        listen,
        server,
        converter,
        allow,
        cookies,
        congestion_control,
        connections,
        idle: Duration::from_secs(idle),
        json,
    }))
}

fn address(argument: &str, text: &str) -> Result<SocketAddr, String> {
    let example = "such as 192.0.2.1:443 or [2001:db8::1]:443";
    text.parse().map_err(|_| format!("{argument}: {text} is not an address with a port, {example}"))
}

fn network(text: &str) -> Result<(IpAddr, u8), String> {
    let (address, length) = text.split_once('/').unwrap_or((text, ""));
    let wrong = || format!("--allow: {text} is not a network, such as 10.0.0.0/8");
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = if length.is_empty() { Ok(most) } else { length.parse() };
    length.ok().filter(|&length| length <= most).map(|length| (address, length)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(arguments: &str) -> String {
        match read(arguments.split_whitespace().map(String::from)) {
            Err(error) => error,
            Ok(_) => panic!("{arguments} was taken"),
        }
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_line() {
        for (arguments, refused) in [
            ("--listen 127.0.0.1:1", "say at which end of the paths this is: client or server; try --help"),
            ("client", "needs --listen ADDRESS:PORT"),
            ("client --listen", "--listen needs a value"),
            (
                "client --listen here",
                "--listen: here is not an address with a port, such as 192.0.2.1:443 or [2001:db8::1]:443",
            ),
            ("client --listen 127.0.0.1:1", "client needs --to ADDRESS:PORT or --transparent"),
            ("client --listen [::]:1 --to [::1]:2 --transparent", "--to and --transparent exclude each other"),
            ("server --listen [::]:1 --converter [::1]:2", "--converter is for the client's end: it names this one"),
            (
                "server --listen [::]:1 --to [::1]:2 --cookies",
                "--allow and --cookies are of the Convert Protocol: without --to and --transparent at the server's end",
            ),
            (
                "server --listen [::]:1",
                "server needs --to ADDRESS:PORT, --transparent, or --allow NETWORK: it connects those clients to whomever they name",
            ),
            ("server --listen [::]:1 --allow 10.0.0.0/33", "--allow: 10.0.0.0/33 is not a network, such as 10.0.0.0/8"),
            ("server --listen [::]:1 --connections 0", "--connections: 0 is not a number of connections"),
            ("server --listen [::]:1 --idle 0", "--idle: 0 is not a number of seconds"),
            ("server --listne", "unknown argument --listne; try --help"),
        ] {
            assert_eq!(refusal(arguments), refused);
        }
    }
}
