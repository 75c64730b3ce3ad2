//! The endpoint of QUIC: its socket, settings and certificate.

use crate::job::{Congestion, Job};
use noq::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use noq::crypto::rustls::QuicClientConfig;
use noq::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use socket2::SockRef;
use std::error::Error;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

const BUFFER_BYTES: usize = 1 << 23;
/// Paths at most, as scenarios have.
const MOST_PATHS: u32 = 8;
/// The name in the certificate, which nobody checks.
pub const NAME: &str = "server";

/// Opens the endpoint of the client or of the server.
pub fn open(job: &Job) -> Result<Endpoint, Box<dyn Error>> {
    let transport = Arc::new(transport(job));
    if !job.is_client() {
        let certified = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
        let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
        let mut config = ServerConfig::with_single_cert(vec![certified.cert.der().clone()], key.into())?;
        config.transport_config(transport);
        return Ok(endpoint(job.server, Some(config))?);
    }
    let tls = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider())))
        .with_no_client_auth();
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport);
    let endpoint = endpoint(SocketAddr::new(own_address(job), 0), None)?;
    endpoint.set_default_client_config(config);
    Ok(endpoint)
}

fn endpoint(address: SocketAddr, server: Option<ServerConfig>) -> io::Result<Endpoint> {
    let socket = UdpSocket::bind(address)?;
    // As much as the machine allows: on a busy one much may come before it is read.
    SockRef::from(&socket).set_recv_buffer_size(BUFFER_BYTES)?;
    Endpoint::new(EndpointConfig::default(), server, socket, Arc::new(TokioRuntime))
}

/// With one path it is its address; with several, each datagram has the one of its path.
fn own_address(job: &Job) -> IpAddr {
    match job.paths[..] {
        [only] => only.address,
        _ if job.server.is_ipv4() => Ipv4Addr::UNSPECIFIED.into(),
        _ => Ipv6Addr::UNSPECIFIED.into(),
    }
}

fn transport(job: &Job) -> TransportConfig {
    let congestion: Arc<dyn ControllerFactory + Send + Sync> = match job.congestion_control {
        Congestion::Cubic => Arc::new(CubicConfig::default()),
        Congestion::Reno => Arc::new(NewRenoConfig::default()),
        Congestion::Bbr => Arc::new(Bbr3Config::default()),
    };
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(congestion)
        .stream_receive_window(job.receive_window.into())
        .receive_window(job.receive_window.into())
        .send_window(job.send_window)
        // Captures are to show every datagram.
        .enable_segmentation_offload(false);
    if job.paths.len() != 1 {
        transport.max_concurrent_multipath_paths(MOST_PATHS);
    }
    transport
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Takes any server for the right one: both ends are in a network of their own.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer,
        _: &[CertificateDer],
        _: &ServerName,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
