"""The scenarios that both engines run, a family of them a file."""

from experiments.engines.cases import (
    controllers,
    converters,
    failures,
    links,
    radio,
    several,
    sharing,
    shipped,
    short,
    single,
    windows,
)

CASES = (
    *single.CASES,
    *several.CASES,
    *windows.CASES,
    *short.CASES,
    *failures.CASES,
    *radio.CASES,
    *links.CASES,
    *sharing.CASES,
    *converters.CASES,
    *shipped.CASES,
    *controllers.CASES,
)
