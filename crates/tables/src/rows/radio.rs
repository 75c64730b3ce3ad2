use crate::row::row;

row! {
    /// One row per sample of a path's radio. From field runs, or from a log by `mptcplab annotate`; analyses have none.
    pub struct Radio {
        /// Name of the path.
        path: String,
        /// Source: `iw`, `ModemManager`, or the name of a file.
        source: String,
        /// Unix time, by the client's clock.
        at_ns: i64,
        /// Time, from the first packet of all captures.
        at_s: f64,
        /// Radio access technology, as named by the source: `wifi`, `umts`, `lte`, `5gnr`.
        technology: Option<String>,
        /// Identity of the serving cell; for Wi-Fi, the address of the access point.
        cell: Option<String>,
        /// Band or channel, as given by the source: for Wi-Fi the frequency, for LTE from ModemManager the downlink
        /// EARFCN.
        band: Option<String>,
        /// Reference signal received power (3GPP TS 36.214 §5.1.1, TS 38.215 §5.1.1; reported from −156 to −31 dBm).
        rsrp_dbm: Option<f64>,
        /// Reference signal received quality (3GPP TS 36.214 §5.1.3, TS 38.215 §5.1.3; reported from −43 to 20 dB).
        rsrq_db: Option<f64>,
        /// Signal to interference and noise ratio.
        sinr_db: Option<f64>,
        /// Received signal strength over the whole bandwidth; for Wi-Fi, of the last frame.
        rssi_dbm: Option<f64>,
        /// Bit rate at which the client's radio sends, before any overhead.
        up_mbps: Option<f64>,
        /// Bit rate at which it receives.
        down_mbps: Option<f64>,
        /// Wi-Fi: received signal strength, averaged by the driver over the last frames.
        rssi_dbm_mean: Option<f64>,
        /// Wi-Fi: frames retransmitted since the association with the access point.
        retries: Option<u64>,
        /// Wi-Fi: frames given up since then.
        failed: Option<u64>,
    }
}
