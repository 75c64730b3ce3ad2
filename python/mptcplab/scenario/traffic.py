"""``[[cross_traffic]]``: flows of others on the links."""

from __future__ import annotations

from typing import Any

from mptcplab.messages import nearest, quoted
from mptcplab.scenario import policy
from mptcplab.scenario.path import Link
from mptcplab.scenario.section import Section, Text, forms, read_form
from mptcplab.scenario.source import Source, tables


class Traffic(Section):
    """Flows between hosts of their own over one of the links."""

    kind: str
    name: Text | None = None
    """Name in results. If left out, ``cross-1``, ``cross-2``, ..."""
    link: str
    direction: str
    start: int
    stop: int | None


KINDS = forms("cross_traffic", "kind", Traffic)


def read_traffic(value: Any, links: dict[str, Link], source: Source) -> list[Traffic]:
    """Read the cross traffic over these links."""
    all_of_it: list[Traffic] = []
    for number, one in enumerate(tables(value, "cross_traffic", source)):
        key_path = ("cross_traffic", number)
        traffic = read_form(KINDS, "kind", Traffic, {"kind": "tcp", **one}, key_path, source)
        if traffic.name is None:
            traffic = traffic.model_copy(update={"name": f"cross-{number + 1}"})
        if traffic.name in [other.name for other in all_of_it]:
            raise source.fault(
                (*key_path, "name"), f"there is another cross traffic {quoted(traffic.name)}"
            )
        if traffic.stop is not None and traffic.stop <= traffic.start:
            raise source.fault((*key_path, "stop"), "it stops before it starts")
        all_of_it.append(traffic)
    for number, traffic in enumerate(all_of_it):
        key_path = ("cross_traffic", number)
        if traffic.link not in links:
            hint = nearest(traffic.link, links)
            raise source.fault(
                (*key_path, "link"), f"there is no link {quoted(traffic.link)}; {hint}"
            )
        if traffic.kind == "tcp":
            key = "congestion_control"
            policy.check(key, traffic.congestion_control, (*key_path, key), source)
    return all_of_it
