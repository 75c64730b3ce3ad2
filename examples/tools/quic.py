"""A download over QUIC with aioquic; both ends write a qlog: ``quic.py server|client BYTES``."""

import asyncio
import ssl
import sys
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import QuicEvent, StreamDataReceived
from aioquic.quic.logger import QuicFileLogger

ROLE, SIZE = sys.argv[1], int(sys.argv[2])


class Server(QuicConnectionProtocol):
    """Answers whatever is asked with that many bytes."""

    def quic_event_received(self, event: QuicEvent) -> None:
        """Answer once the question is complete."""
        if isinstance(event, StreamDataReceived) and event.end_stream:
            self._quic.send_stream_data(event.stream_id, bytes(SIZE), end_stream=True)
            self.transmit()


async def main() -> None:
    """Serve, or download once."""
    Path(ROLE).mkdir(exist_ok=True)
    configuration = QuicConfiguration(
        is_client=ROLE == "client", alpn_protocols=["lab"], quic_logger=QuicFileLogger(ROLE)
    )
    if ROLE == "server":
        configuration.load_cert_chain("cert.pem", "key.pem")
        await serve("0.0.0.0", 4433, configuration=configuration, create_protocol=Server)
        await asyncio.Future()
    configuration.verify_mode = ssl.CERT_NONE
    async with connect("server", 4433, configuration=configuration) as client:
        reader, writer = await client.create_stream()
        writer.write(b"get")
        writer.write_eof()
        received = len(await reader.read())
        if received != SIZE:
            raise SystemExit(f"{received} bytes came, not {SIZE}")


asyncio.run(main())
