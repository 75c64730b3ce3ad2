use parameters::{Bytes, Fault, Flag, Packets, Text, fault, parameters};
use transport::{Config, congestion};

parameters! {
    /// A proxy that terminates TCP, as mobile carriers use to speed up transfers (RFC 3135 §2.1; Honda et al., IMC
    /// 2011). It answers the client with the server's address, opens its own connection to the server with the client's
    /// address, and relays data as fast as the other side takes it. It relays no MPTCP option: the first subflow falls
    /// back to TCP (RFC 8684 §3.7), and the client resets joins. It connects to the server only after it has accepted
    /// the client's connection, so the server sees the connection a round trip late. Its position in the list is its
    /// position on the path: a `delay` behind it separates it from the server. Packets of connections that it has not
    /// accepted pass unchanged. It needs to see both directions: put it into `middleboxes`, or share it. Only the
    /// simulator supports it.
    "proxy"
    struct Settings {
        /// Whether it already has the server's data in its cache. It then answers in the server's place, and the server
        /// sees nothing. Possible only with downloads and request-response.
        cached: Flag = Flag(false),
        /// Whether it caches the first response that it has relayed completely, and answers later requests with it,
        /// since all requests ask for the same object. The first request is a miss, the others are hits. Possible only
        /// with downloads by request-response.
        caches: Flag = Flag(false),
        /// Most bytes that it buffers for each direction of a connection. One half is the receive buffer towards the
        /// sender, the other half the send buffer towards the receiver.
        buffer: Bytes = Bytes(4_000_000),
        /// Initial congestion window in segments (RFC 6928).
        initial_window: Packets = Packets(10),
        /// Its congestion control, towards both ends.
        congestion_control: Text = Text(Config::default().congestion_control),
    }
}

/// A buffer that has less room than this for a direction holds no segment in each half.
const LEAST_BUFFER_BYTES: u64 = 3_000;

impl Settings {
    /// The endpoints of the proxy.
    pub fn config(&self) -> Result<Config, Fault> {
        let Settings { cached, caches, buffer, initial_window, congestion_control } = self;
        congestion::build(&congestion_control.0, &parameters::Table::new())
            .map_err(|error| fault("congestion_control", error.to_string()))?;
        if cached.0 && caches.0 {
            return Err(fault("caches", "has no effect with `cached`, which already has everything"));
        }
        if buffer.0 < LEAST_BUFFER_BYTES {
            return Err(fault("buffer", format!("must be at least {LEAST_BUFFER_BYTES} bytes: two segments")));
        }
        let window = u32::try_from(initial_window.0).ok().filter(|&packets| packets > 0);
        let mut config = Config { congestion_control: congestion_control.0.clone(), ..Config::default() };
        config.mptcp.enabled = false;
        config.tcp.initial_window_packets =
            window.ok_or_else(|| fault("initial_window", "must be at least one packet"))?;
        config.tcp.receive_buffer_tuning = false;
        config.tcp.receive_buffer_bytes = buffer.0 / 2;
        config.tcp.max_receive_buffer_bytes = buffer.0 / 2;
        config.tcp.send_buffer_bytes = buffer.0 / 2;
        // Bytes of data, whatever packets occupy.
        config.tcp.adv_win_scale = Some(31);
        config.tcp.send_buffer_tuning = false;
        Ok(config)
    }
}
