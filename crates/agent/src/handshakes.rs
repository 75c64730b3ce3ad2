//! Probes by handshakes of plain TCP, for peers that do not answer pings: whatever the port's host says is an answer.

use crate::kernel::Address;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{ErrorKind, Result};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// More than that are not waited for at once.
const MOST: usize = 64;

struct Handshake {
    socket: Socket,
    from: IpAddr,
    number: u16,
}

/// Those that are under way, oldest first.
#[derive(Default)]
pub struct Handshakes(Vec<Handshake>);

impl Handshakes {
    /// Begins one. It is reset once it is answered, so that nothing lingers here.
    ///
    /// # Errors
    /// It could not be sent.
    pub fn send(&mut self, from: &Address, to: SocketAddr, number: u16) -> Result<()> {
        let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_linger(Some(Duration::ZERO))?;
        socket.bind_device(Some(from.interface.as_bytes()))?;
        socket.bind(&SocketAddr::new(from.address, 0).into())?;
        match socket.connect(&to.into()) {
            // EINPROGRESS has no kind of its own.
            Err(error) if error.raw_os_error() != Some(115) && error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => {
                if self.0.len() >= MOST {
                    self.0.remove(0);
                }
                self.0.push(Handshake { socket, from: from.address, number });
                Ok(())
            }
        }
    }

    /// Those that were answered since: from where, and which.
    pub fn answers(&mut self) -> Vec<(IpAddr, u16)> {
        let mut found = Vec::new();
        self.0.retain(|one| match (one.socket.peer_addr(), one.socket.take_error()) {
            (_, Ok(Some(error))) => {
                // RST is an answer, too; anything else says that none will come.
                if error.kind() == ErrorKind::ConnectionRefused {
                    found.push((one.from, one.number));
                }
                false
            }
            (Ok(_), _) => {
                found.push((one.from, one.number));
                false
            }
            _ => true,
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn open_and_closed_ports_answer() {
        let from =
            Address { address: "127.0.0.1".parse().unwrap(), index: 1, interface: "lo".into(), is_running: true };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = listener.local_addr().unwrap();
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut handshakes = Handshakes::default();
        let sent = handshakes.send(&from, open, 1);
        if sent.as_ref().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
            return;
        }
        sent.unwrap();
        handshakes.send(&from, closed, 2).unwrap();
        // Loopback delivers before connect returns.
        let numbers: Vec<_> = handshakes.answers().into_iter().map(|(_, number)| number).collect();
        assert_eq!(numbers, [1, 2]);
        assert!(handshakes.answers().is_empty());
    }
}
