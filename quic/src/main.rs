//! An application's data over QUIC, over one path or several: the program beside both ends of a run.
//!
//! `mptcplab-quic JOB` ([`job::Job`], in JSON) stands between an application, whose end of it is an ordinary TCP connection of
//! the same host, and the other host, where the same program is. It carries one connection and writes lines of JSON:
//! `{"ready": true}` when it listens, and at the end `{"done": {"reason": …, "paths": […]}}`. It ends when the connection has, or
//! when its standard input is closed.

mod endpoint;
mod job;
mod paths;
mod relay;

use job::Job;
use noq::{Connection, Endpoint, RecvStream, SendStream};
use paths::Paths;
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

const USAGE: &str = "usage: mptcplab-quic JOB, in JSON; mptcplab starts it at both ends of a run over QUIC";
/// What begins a stream: the server learns of it although the application there may write first.
const GREETING: &[u8; 1] = b"\n";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let ended = begin().await;
    if let Err(error) = &ended {
        let _ = writeln!(std::io::stderr(), "mptcplab-quic: {error}");
    }
    // Standard input may be read for ever.
    std::process::exit(if ended.is_ok() { 0 } else { 2 })
}

async fn begin() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(text), None) = (arguments.next(), arguments.next()) else { return Err(USAGE.into()) };
    let job = Job::read(&text.to_string_lossy())?;
    let endpoint = endpoint::open(&job)?;
    let port = endpoint.local_addr()?.port();
    let listener = match job.is_client() {
        true => Some(TcpListener::bind(job.application).await?),
        false => None,
    };
    say(&json!({"ready": true}));
    let mut paths = None;
    let reason = tokio::select! {
        ended = serve(&job, &endpoint, listener, port, &mut paths) => ended.err().map(|error| error.to_string()),
        () = stopped() => Some("stopped".into()),
    };
    endpoint.close(relay::DONE.into(), b"");
    // What closes the connection is sent again as long as something comes, which takes three of the slowest path's time-outs.
    tokio::select! {
        () = endpoint.wait_idle() => {}
        () = stopped() => {}
    }
    let paths = paths.as_mut().map(Paths::described).unwrap_or_default();
    say(&json!({"done": {"reason": reason, "paths": paths}}));
    Ok(())
}

/// Writes a line for the agent, if it is still there.
fn say(line: &Value) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Carries one connection to its end.
async fn serve(
    job: &Job,
    endpoint: &Endpoint,
    listener: Option<TcpListener>,
    port: u16,
    paths: &mut Option<Paths>,
) -> Result<(), Box<dyn Error>> {
    let application = match listener {
        Some(listener) => Some(listener.accept().await?.0),
        None => None,
    };
    let connection = match application {
        Some(_) => endpoint.connect(job.server, endpoint::NAME)?.await?,
        None => endpoint.accept().await.ok_or("the endpoint ended")?.await?,
    };
    let paths = paths.insert(Paths::new(connection.clone(), port, job)?);
    tokio::select! {
        ended = carry(job, &connection, application) => Ok(ended?),
        _ = paths.keep(job) => unreachable!(),
    }
}

async fn carry(job: &Job, connection: &Connection, application: Option<TcpStream>) -> Result<(), Box<dyn Error>> {
    match application {
        Some(application) => {
            let (mut sender, receiver) = connection.open_bi().await?;
            sender.write_all(GREETING).await?;
            relay::relay(application, (sender, receiver), connection).await?;
        }
        None => {
            let streams = accepted(connection).await?;
            let application = TcpStream::connect(job.application).await?;
            relay::relay(application, streams, connection).await?;
            // The client has the last word: it knows when all has arrived.
            connection.closed().await;
        }
    }
    Ok(())
}

async fn accepted(connection: &Connection) -> Result<(SendStream, RecvStream), Box<dyn Error>> {
    let (sender, mut receiver) = connection.accept_bi().await?;
    receiver.read_exact(&mut [0; GREETING.len()]).await?;
    Ok((sender, receiver))
}

/// Waits until standard input is closed.
async fn stopped() {
    let mut input = tokio::io::stdin();
    while input.read(&mut [0; 64]).await.is_ok_and(|count| count > 0) {}
}
