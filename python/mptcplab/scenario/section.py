"""What sections of a scenario have in common: strict models whose faults become one line."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from mptcplab.scenario import quantity
from mptcplab.scenario.fault import Place, ScenarioError, nearest
from mptcplab.scenario.quantity import Kind, said
from mptcplab.scenario.source import Source


class Section(BaseModel):
    """A table of a scenario."""

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True
    )


Some = TypeVar("Some", bound=Section)

# Words for each kind of bound, and what pydantic calls it.
BOUNDS = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
}

Rate = Annotated[int, BeforeValidator(quantity.RATE.parse), quantity.RATE]
Duration = Annotated[int, BeforeValidator(quantity.DURATION.parse), quantity.DURATION]
Bytes = Annotated[int, BeforeValidator(quantity.BYTES.parse), quantity.BYTES]
Packets = Annotated[int, BeforeValidator(quantity.PACKETS.parse), quantity.PACKETS]
Ratio = Annotated[float, BeforeValidator(quantity.RATIO.parse), quantity.RATIO]
Integer = Annotated[int, BeforeValidator(quantity.INTEGER.parse), quantity.INTEGER]
Number = Annotated[float, BeforeValidator(quantity.FLOAT.parse), quantity.FLOAT]
Text = Annotated[str, BeforeValidator(quantity.TEXT.parse), quantity.TEXT]
Era = Annotated[str, BeforeValidator(quantity.ERA.parse), quantity.ERA]
Flag = Annotated[bool, BeforeValidator(quantity.FLAG.parse), quantity.FLAG]


def read(model: type[Some], value: Any, place: Place, source: Source) -> Some:
    """Read a section."""
    if not isinstance(value, dict):
        raise source.fault(place, f"{said(value)} is not a table")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _fault(model, error, place, source) from None


@cache
def kinds(model: type[Section]) -> dict[str, Kind | None]:
    """Give the kind of value of each key."""
    hints = get_type_hints(model, include_extras=True)
    return {name: _kind(hints[name]) for name in model.model_fields}


def show(section: Section) -> dict[str, Any]:
    """Write a section as :func:`read` reads it, all that it holds."""
    shown = {}
    for name, kind in kinds(type(section)).items():
        value = getattr(section, name)
        if isinstance(kind, quantity.OrOff) or value is not None:
            shown[name] = kind.show(value) if kind else value
    return shown


def _kind(hint: Any) -> Kind | None:
    if get_origin(hint) is Annotated:
        return next((one for one in hint.__metadata__ if isinstance(one, Kind)), None)
    return next(filter(None, map(_kind, get_args(hint))), None)


def _fault(
    model: type[Section], error: ValidationError, place: Place, source: Source
) -> ScenarioError:
    # A misspelt key is also a missing one: tell the former.
    faults = sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    fault = faults[0]
    what, where = fault["type"], (*place, *fault["loc"])
    if what == "extra_forbidden":
        return source.unknown(
            where, f"there is no such key; {nearest(str(where[-1]), _keys(model))}"
        )
    if what == "missing":
        name = str(fault["loc"][-1])
        return source.fault(place, f"needs {name}: {about(model, name)}")
    if what == "value_error":
        return source.fault(where, str(fault["ctx"]["error"]))
    given = said(fault["input"])
    if what == "literal_error":
        known = fault["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return source.fault(where, f"{given} is not known here; {nearest(given, known)}")
    if what == "list_type":
        return source.fault(where, f"{given} is not a list: write it in [ ]")
    if what in BOUNDS:
        words, bound = BOUNDS[what]
        limit = fault["ctx"][bound]
        kind = kinds(model)[str(fault["loc"][0])]
        return source.fault(
            where, f"must be {words} {kind.show(limit) if kind and limit else limit}"
        )
    return source.fault(where, f"{given}: {fault['msg'][:1].lower()}{fault['msg'][1:]}")


def _keys(model: type[Section]) -> list[str]:
    return list(model.model_fields)


def about(model: type[Section], name: str) -> str:
    """Describe a key, to go on after a colon."""
    words = " ".join((model.model_fields[name].description or "").split())
    words = words.replace("``", "").removesuffix(".")
    return words[:1].lower() + words[1:]
