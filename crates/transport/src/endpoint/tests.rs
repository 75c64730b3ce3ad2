use super::*;
use wire::mptcp::Mptcp;
use wire::{Content, Ip, Payload, TcpOption};

const NOW: Time = Time::from_nanos(0);

/// Hands over what each sends until both are silent; gives the last packet with data.
fn talk(ends: &mut [Endpoint; 2]) -> Option<Packet> {
    let mut data = None;
    let mut silent = 0;
    for from in [0, 1].into_iter().cycle() {
        if silent == 2 {
            return data;
        }
        silent += 1;
        while let Some((packet, nic)) = next(&mut ends[from]) {
            silent = 0;
            ends[1 - from].handle(NOW, nic, &packet);
            data = if packet.frame.payload.len > 0 { Some(packet) } else { data };
        }
    }
    None
}

fn next(endpoint: &mut Endpoint) -> Option<(Packet, Nic)> {
    let nobody = IpAddr::from([0; 4]);
    let ip = Ip { source: nobody, destination: nobody, ttl: 0, tos: 0, id: 0, dont_fragment: true, fragment: None };
    let payload = Payload { len: 0, content: Content::Unsaid };
    let mut packet = Packet { frame: Frame { ip, l4: L4::Other(0), payload }, body: None };
    endpoint.transmit(NOW, &mut packet).map(|nic| (packet, nic))
}

fn is_fast_close(packet: &Packet) -> bool {
    let L4::Tcp(tcp) = &packet.frame.l4 else { return false };
    tcp.flags.has(Flags::RST)
        && tcp.options.iter().any(|option| matches!(option, Ok(TcpOption::Mptcp(Mptcp::FastClose(_)))))
}

// A peer that hears a plain reset first has lost a subflow, not the connection.
#[test]
fn a_fast_close_goes_out_before_the_answer_to_what_still_comes() {
    let mut ends = [1, 2].map(|seed| Endpoint::new(Config::default(), seed));
    let addresses = [1, 2].map(|n| IpAddr::from([192, 0, 2, n]));
    for (end, address) in ends.iter_mut().zip(addresses) {
        end.address_up(NOW, Nic(0), address, 1500);
    }
    ends[1].listen(80);
    let id = ends[0].connect(NOW, SocketAddr::new(addresses[0], 0), SocketAddr::new(addresses[1], 80));
    talk(&mut ends);
    ends[0].write(id, 1_000);
    ends[1].write(ConnectionId(0), 1_000);
    let data = talk(&mut ends).expect("both wrote");
    let to = (data.frame.ip.destination == addresses[1]) as usize;
    ends[to].abort(NOW, ConnectionId(0));
    ends[to].handle(NOW, Nic(0), &data);
    let [first, second] = [(), ()].map(|()| next(&mut ends[to]).expect("a reset").0);
    assert!(is_fast_close(&first), "{first:?}");
    assert!(!is_fast_close(&second), "{second:?}");
}
