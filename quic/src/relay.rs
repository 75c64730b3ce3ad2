//! Bytes between the application's TCP connection and a stream of QUIC, both ways, to their ends.

use noq::{Connection, ConnectionError, ReadError, RecvStream, SendStream};
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

const CHUNK: usize = 1 << 16;
/// Codes of the end of a connection: all is done, or an application gave up.
pub const DONE: u32 = 0;
const GIVEN_UP: u32 = 1;

/// Passes all on until both directions have ended and all was acknowledged; else says why not.
pub async fn relay(
    mut application: TcpStream,
    (sender, receiver): (SendStream, RecvStream),
    connection: &Connection,
) -> Result<(), String> {
    application.set_nodelay(true).map_err(|error| error.to_string())?;
    let (from, to) = application.split();
    let ended = tokio::try_join!(send(from, sender), receive(to, receiver))
        .map_err(|error| connection.close_reason().map_or(error, |reason| reason.to_string()));
    if let Err(error) = &ended {
        connection.close(GIVEN_UP.into(), error.as_bytes());
        // The application is to see that it was lost: a reset.
        let _ = application.set_zero_linger();
    }
    ended.map(|_| ())
}

async fn send(mut from: ReadHalf<'_>, mut stream: SendStream) -> Result<(), String> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = from.read(&mut chunk).await.map_err(given_up)?;
        if count == 0 {
            break;
        }
        stream.write_all(&chunk[..count]).await.map_err(|error| error.to_string())?;
    }
    stream.finish().map_err(|error| error.to_string())?;
    // Until all is acknowledged, or the connection has ended.
    let _ = stream.stopped().await;
    Ok(())
}

async fn receive(mut to: WriteHalf<'_>, mut stream: RecvStream) -> Result<(), String> {
    let mut chunk = vec![0; CHUNK];
    loop {
        match stream.read(&mut chunk).await {
            Ok(Some(count)) => to.write_all(&chunk[..count]).await.map_err(given_up)?,
            Ok(None) => break,
            Err(ReadError::ConnectionLost(error)) if is_done(&error) => break,
            Err(error) => return Err(error.to_string()),
        }
    }
    to.shutdown().await.map_err(given_up)
}

/// Whether the peer ended the connection because all was done.
fn is_done(error: &ConnectionError) -> bool {
    matches!(error, ConnectionError::ApplicationClosed(close) if close.error_code == DONE.into())
}

fn given_up(error: io::Error) -> String {
    format!("the application gave up: {error}")
}
