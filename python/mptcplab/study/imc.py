"""What the experiments of IMC 2013 have in common: home Wi-Fi and a carrier."""

from __future__ import annotations

from mptcplab.study import scenes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mptcplab.study.experiment import Extent

PAPER = "imc13"
WIFI, ATT = "imc13/5/wifi", "imc13/5/att-lte"
LINKS = {"wifi": scenes.profile(WIFI), "att": scenes.profile(ATT)}
CARRIERS = {"att": LINKS["att"], "verizon": "imc-verizon-lte", "sprint": "imc-sprint-evdo"}
#: What is to be known where times and shares hang on rates.
RATES = (
    "The paper prints no throughput of single paths: Wi-Fi's rate is assumed, AT&T's follows from "
    "its round trips. Times and shares hang on both."
)
CONTROLLERS = ("lia", "olia", "reno")
#: §5.2: the receive buffer is large enough never to hold anything back.
ENDS = {"tcp.max_receive_buffer": "8 MB", **scenes.THRESHOLD}


def campaign(
    extent: Extent,
    repetitions: int,
    title: str,
    sizes: Sequence[str],
    *,
    controllers: Sequence[str] = CONTROLLERS,
    addresses: Sequence[int] = (1, 2),
    joins: Sequence[str] = ("specified",),
    links: dict[str, str] = LINKS,
) -> dict[str, Any]:
    """Download files of several sizes: MP-2 with one server address, MP-4 with two."""
    return scenes.campaign(
        scenes.scenario(links, "download", size=sizes[0]),
        extent,
        repetitions,
        title=title,
        both=ENDS,
        controlled=True,
        axes={
            "size": {"key": "transfer.size", "values": list(sizes)},
            "controller": {"key": "mptcp.congestion_control", "values": list(controllers)},
            "subflows": {
                "points": {f"MP-{2 * one}": {"server.addresses": one} for one in addresses}
            },
            **({"join": {"key": "mptcp.join", "values": list(joins)}} if len(joins) > 1 else {}),
        },
    )
