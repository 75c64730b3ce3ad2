use crate::row::row;

row! {
    /// One row per sample of a path's radio. Field runs fill it, and `mptcplab annotate` from a log; no analysis has rows.
    pub struct Radio {
        /// Name of the path.
        path: String,
        /// Where it comes from: `iw`, `ModemManager`, or the name of a file.
        source: String,
        /// Time, Unix time, by the clock of the client.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// Radio access technology, as the source calls it: `wifi`, `umts`, `lte`, `5gnr`.
        technology: Option<String>,
        /// What serves: the cell's identity, of Wi-Fi the access point's address.
        cell: Option<String>,
        /// Band or channel, as the source says: of Wi-Fi its frequency, of LTE from ModemManager the downlink EARFCN.
        band: Option<String>,
        /// Reference signal received power (3GPP TS 36.214 §5.1.1, TS 38.215 §5.1.1; reported from −156 to −31 dBm).
        rsrp_dbm: Option<f64>,
        /// Reference signal received quality (3GPP TS 36.214 §5.1.3, TS 38.215 §5.1.3; reported from −43 to 20 dB).
        rsrq_db: Option<f64>,
        /// Signal to noise and interference ratio.
        sinr_db: Option<f64>,
        /// Received signal strength over the whole bandwidth; of Wi-Fi that of the last frame.
        rssi_dbm: Option<f64>,
        /// Rate at which the client's radio sends, before any overhead.
        up_mbps: Option<f64>,
        /// Rate at which it receives.
        down_mbps: Option<f64>,
        /// Received signal strength of Wi-Fi, averaged by the driver over the last frames.
        rssi_dbm_mean: Option<f64>,
        /// Of Wi-Fi, how often frames were sent again since the access point began to serve it.
        retries: Option<u64>,
        /// Of Wi-Fi, frames that were given up since then.
        failed: Option<u64>,
    }
}
