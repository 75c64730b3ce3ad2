use parameters::{Bytes, Fault, Flag, Packets, Text, fault, parameters};
use transport::{Config, congestion};

parameters! {
    /// A proxy that ends TCP, as carriers have them to speed transfers up (RFC 3135 §2.1; Honda et al., IMC 2011): it answers the client
    /// with the server's address, opens a connection of its own to the server with the client's, and passes on what comes, as fast as
    /// the other side takes it. No option of MPTCP passes: the first subflow falls back to TCP (RFC 8684 §3.7), a join is reset by the
    /// client. It accepts first and connects then, so the server hears of the client a round trip late. Where it stands in the list is where it
    /// stands on the way; a `delay` behind it parts it from the server. Packets that are not of a connection it accepted pass. It sees both directions: one of
    /// `middleboxes`, or shared. The simulator has it.
    "proxy"
    struct Settings {
        /// Whether it has what the server would send, from one who fetched it before: then it answers in the server's place,
        /// which hears nothing. Only downloads and requests can be answered so.
        cached: Flag = Flag(false),
        /// Whether it keeps the first answer that it passes on whole, and gives it to all who ask later, each request being for the
        /// same: the first is a miss, the others are hits. Only of downloads by request-response.
        caches: Flag = Flag(false),
        /// Bytes that it holds at most for each direction of a connection; half are what it told the sender to have room
        /// for, half what the receiver has not acknowledged.
        buffer: Bytes = Bytes(4_000_000),
        /// Segments in its first window (RFC 6928).
        initial_window: Packets = Packets(10),
        /// Its congestion controller, towards both ends.
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
