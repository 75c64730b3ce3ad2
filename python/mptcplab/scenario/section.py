"""What sections of a scenario have in common: strict models whose faults become one line."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import pairwise
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from mptcplab import _core, quantity
from mptcplab.messages import nearest, quoted
from mptcplab.quantity import Kind, OrOff, Table
from mptcplab.scenario import described
from mptcplab.scenario.fault import KeyPath, ScenarioError, together
from mptcplab.scenario.source import Source

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

# What can be set, as the engines' code declares it.
Setting = dict[str, Any]


class Section(BaseModel):
    """A table of a scenario."""

    # To read the source of every model, or to make all that a scenario may hold, takes longer than
    # to read most scenarios.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
    #: Its keys that the engines' code declares.
    SETTINGS: ClassVar[tuple[Setting, ...]] = ()

    if TYPE_CHECKING:
        # Keys that are declared there alone.
        def __getattr__(self, name: str) -> Any: ...


Some = TypeVar("Some", bound=Section)

# The directions of engines by those of scenarios.
DIRECTIONS = {"download": "down", "upload": "up"}
KINDS = described.KINDS | {
    "parameters": Table("parameters", "a table of its parameters, such as { weight = 0.25 }")
}
TYPES = {"flag": bool, "text": str, "number": float, "parameters": dict[str, Any]}
# What pydantic calls the bounds of a setting.
LIMITS = {"above": "gt", "least": "ge", "most": "le"}
# What pydantic calls a key that a model has not, and one that is not there.
UNKNOWN = "extra_forbidden"
MISSING = "missing"
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


def declared(
    settings: Iterable[Setting], without: str = "", doc: str | None = None, name: str | None = None
) -> Callable[[type[Some]], type[Some]]:
    """Give a section the keys that the engines' code declares, after those of its own.

    A key that the class only annotates stands where the class has it; one with a default stays.
    """
    known = tuple(one for one in settings if one["name"] != without)

    def extend(model: type[Some]) -> type[Some]:
        own = model.model_fields
        fields: dict[str, Any] = {
            one["name"]: _field(one)
            for one in known
            if one["name"] not in own or own[one["name"]].is_required()
        }
        section: type[Some] = create_model(
            name or model.__name__,
            __base__=model,
            __doc__=doc or model.__doc__,
            __module__=model.__module__,
            **fields,
        )
        section.SETTINGS = known
        return section

    return extend


def forms(
    section: str, key: str, base: type[Some], own: Mapping[str, type[Some]] | None = None
) -> dict[str, type[Some]]:
    """Give a model for each form of a section, by the word that ``key`` has for it.

    ``own`` are those with more keys than the engines' code declares.
    """
    models = {}
    for form in _core.forms()[section]:
        form_name = form["name"]
        model = (own or {}).get(form_name, base)
        name = form_name.title().replace("-", "")
        tag: dict[str, Any] = {key: (Literal[form_name], ...)}
        of_word: type[Some] = create_model(name, __base__=model, **tag)
        models[form_name] = declared(form["settings"], doc=form["summary"], name=name)(of_word)
        # By this name it is pickled.
        models[form_name].__module__ = base.__module__
        setattr(sys.modules[base.__module__], name, models[form_name])
    return models


def _field(setting: Setting) -> tuple[Any, Any]:
    bounds: dict[str, Any] = {"ge": 0} if setting["kind"] == "integer" else {}
    bounds |= {LIMITS[how]: limit for how, limit in setting["bounds"]}
    default = setting["default"]
    if setting["kind"] == "direction":
        default = {there: here for here, there in DIRECTIONS.items()}.get(default)
    if setting["required"]:
        default = ...
    return _type(setting), Field(default, description=setting["doc"], **bounds)


def _type(setting: Setting) -> Any:
    if setting["kind"] == "direction":
        return Literal[tuple(DIRECTIONS)]
    if setting["kind"] == "choice":
        return Literal[tuple(setting["choices"])]
    kind: Kind = KINDS[setting["kind"]]
    type_: Any = TYPES.get(setting["kind"], int)
    if setting["optional"]:
        kind, type_ = OrOff(kind), type_ | None
    type_ = Annotated[type_, BeforeValidator(kind.parse), kind]
    # What the era says is filled in, for what may be off as well.
    given = setting["required"] or setting["optional"] or setting["default"] is not None
    return type_ if given else type_ | None


def in_base_units(section: Section) -> dict[str, Any]:
    """Give what engines take of a section, by the names that their code has for it."""
    values = {
        one["at"].removeprefix("/"): getattr(section, one["name"]) for one in section.SETTINGS
    }
    directions = {
        one["at"].removeprefix("/") for one in section.SETTINGS if one["kind"] == "direction"
    }
    return values | {name: DIRECTIONS[values[name]] for name in directions}


def read_form(
    models: dict[str, type[Some]],
    key: str,
    base: type[Section],
    value: Any,
    key_path: KeyPath,
    source: Source,
) -> Some:
    """Read a section of the form that ``key`` names."""
    if not isinstance(value, dict):
        raise source.fault(key_path, f"{quoted(value)} is not a table")
    if key not in value:
        raise source.fault(key_path, f"needs {key}: {about(base, key)}; known: {', '.join(models)}")
    name = value[key]
    if not isinstance(name, str) or name not in models:
        raise source.fault(
            (*key_path, key), f"{quoted(name)} is not known here; {nearest(str(name), models)}"
        )
    return read(models[name], value, key_path, source)


def read(model: type[Some], value: Any, key_path: KeyPath, source: Source) -> Some:
    """Read a section."""
    if not isinstance(value, dict):
        raise source.fault(key_path, f"{quoted(value)} is not a table")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = error.errors()
        unknown = [fault for fault in faults if fault["type"] == UNKNOWN]
        # A misspelt key is also a missing one: report the former.
        reported = [fault for fault in faults if not (unknown and fault["type"] == MISSING)]
        raise together(_fault(model, fault, key_path, source) for fault in reported) from None


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
    model: type[Section], fault: ErrorDetails, key_path: KeyPath, source: Source
) -> ScenarioError:
    what, where = fault["type"], (*key_path, *fault["loc"])
    if what == UNKNOWN:
        return source.unknown(
            where, f"there is no such key; {nearest(str(where[-1]), _keys(model))}"
        )
    if what == MISSING:
        name = str(fault["loc"][-1])
        return source.fault(key_path, f"needs {name}: {about(model, name)}")
    if what == "value_error":
        return source.fault(where, str(fault["ctx"]["error"]))
    given = quoted(fault["input"])
    if what == "literal_error":
        known = fault["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return source.fault(where, f"{given} is not known here; {nearest(given, known)}")
    if what == "list_type":
        return source.fault(where, f"{given} is not a list: write it in [ ]")
    if what in BOUNDS:
        requirement, bound = BOUNDS[what]
        limit = fault["ctx"][bound]
        kind = kinds(model)[str(fault["loc"][0])]
        return source.fault(
            where, f"must be {requirement} {kind.show(limit) if kind and limit else limit}"
        )
    return source.fault(where, f"{given}: {fault['msg'][:1].lower()}{fault['msg'][1:]}")


def _keys(model: type[Section]) -> list[str]:
    return list(model.model_fields)


def about(model: type[Section], name: str) -> str:
    """Describe a key, to go on after a colon."""
    description = " ".join(description_of(model, name).split())
    description = description.replace("`", "").removesuffix(".")
    return description[:1].lower() + description[1:]


def description_of(model: type[Section], name: str) -> str:
    """Describe a key as the engines' code does, or as the text below it in its model."""
    return model.model_fields[name].description or _texts(model).get(name, "")


@cache
def _texts(model: type[Section]) -> dict[str, str]:
    """Give the text below each key, of those that models in a file have."""
    texts: dict[str, str] = {}
    for one in reversed(model.__mro__):
        if not issubclass(one, Section):
            continue
        try:
            source = inspect.getsource(one)
        except (OSError, TypeError):
            # Made from what the engines' code declares.
            continue
        (parsed,) = ast.parse(textwrap.dedent(source)).body
        for key, text in pairwise(getattr(parsed, "body", ())):
            match key, text:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str() as said)),
                ):
                    texts[name] = inspect.cleandoc(said)
    return texts
