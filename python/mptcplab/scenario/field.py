"""``[field]``: between which hosts a scenario is run where its paths are real ones."""

from __future__ import annotations

from pydantic import Field as Setting

from mptcplab.scenario.section import Duration, Section, Text


class Field(Section):
    """The other host, where the paths are real ones (``--engine field``)."""

    server: Text | None = None
    """The line that ``mptcplab serve`` prints: ``"HOST:PORT#FINGERPRINT"``."""
    token: Text | None = None
    """A file with the token of that server; if left out ``mptcplab/token`` below
    ``$XDG_CONFIG_HOME`` or ``~/.config``."""
    echoes: int = Setting(20, ge=0, le=1000)
    """UDP echoes over each path, before and after each run: they tell how far the hosts' clocks are
    apart."""
    radio: Duration = Setting(10**9, ge=0)
    """How often the radio of each path is asked for its signal, for the table ``radio``: ``iw`` for
    wireless LANs, ModemManager for modems; 0: never."""
    gpsd: Text | None = None
    """Where gpsd is heard for the table ``positions``: ``"localhost"``, ``"HOST:PORT"``; if left
    out nowhere."""
