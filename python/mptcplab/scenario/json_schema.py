"""A JSON schema of scenarios, for editors: made of the sections and of what the code declares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin, get_type_hints

from mptcplab.quantity import JSON_TYPES
from mptcplab.scenario import described, element, policy
from mptcplab.scenario.converter import Converter
from mptcplab.scenario.described import Description
from mptcplab.scenario.endpoint import Client, Mptcp, Server, Tcp
from mptcplab.scenario.field import Field
from mptcplab.scenario.kernel import Kernel
from mptcplab.scenario.path import NAME, Link, Path
from mptcplab.scenario.radio import Point, Radio
from mptcplab.scenario.resolved import SCHEMA, Run
from mptcplab.scenario.section import Section, description_of, kinds
from mptcplab.scenario.timeline import VERBS
from mptcplab.scenario.traffic import KINDS
from mptcplab.scenario.transfer import APPLICATIONS

Schema = dict[str, Any]

DIALECT = "http://json-schema.org/draft-07/schema#"
ELEMENTS = {"type": "array", "items": {"$ref": "#/definitions/element"}}
DRAW: Schema = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {
            "of": {"type": "array", "items": {"type": "string"}},
            "spread": {"type": "number"},
        },
        "required": ["of", "spread"],
        "additionalProperties": False,
    },
}
#: Of keys whose value has no kind: what it is a list or a table of.
SHAPES: dict[str, Schema] = {
    "uplink": ELEMENTS,
    "downlink": ELEMENTS,
    "middleboxes": ELEMENTS,
    "radio": {"$ref": "#/definitions/radio"},
    "route": {"type": "array", "items": {"$ref": "#/definitions/point"}},
    "queue": {"anyOf": [{"type": ["string", "integer"]}, {"$ref": "#/definitions/queue"}]},
    "draw": DRAW,
    "alternatives": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "weight": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                "uplink": ELEMENTS,
                "downlink": ELEMENTS,
                "draw": DRAW,
            },
            "required": ["weight", "uplink", "downlink"],
            "additionalProperties": False,
        },
    },
}
#: Of parameters whose kind is no quantity.
PARAMETERS: dict[str, Schema] = {
    element.QUEUE: {"$ref": "#/definitions/queue"},
    element.TRACE: {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
    **{
        kind: {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            ]
        }
        for kind in element.ROWS
    },
}


def scenarios() -> Schema:
    """Give the schema of a whole scenario."""
    sections: dict[str, Schema] = {
        "schema": {"const": SCHEMA, "description": "Version of the schema."},
        "title": {"type": "string", "description": "Title, in one line."},
        "transfer": _forms(APPLICATIONS.values(), "application", "bulk"),
        "link": _named(_section(Link)),
        "path": _named(_section(Path)) | {"minProperties": 1},
        "client": _section(Client),
        "server": _section(Server),
        "mptcp": _section(Mptcp),
        "tcp": _section(Tcp),
        "kernel": _section(Kernel),
        "field": _section(Field),
        "converter": _section(Converter),
        "cross_traffic": {"type": "array", "items": _forms(KINDS.values(), "kind", "tcp")},
        "timeline": {"type": "array", "items": _forms(VERBS.values(), "verb")},
        "run": _section(Run),
    }
    shared: dict[str, Schema] = {element.SHARED: {"type": "string", "minLength": 1}}
    alone = _object(shared, [element.SHARED])
    return {
        "$schema": DIALECT,
        "title": "mptcplab scenario",
        "definitions": {
            "element": {"anyOf": [alone, *_described("element", shared)]},
            "queue": {"anyOf": _described(element.QUEUE, {})},
            "radio": _section(Radio),
            "point": _section(Point),
        },
    } | _object(sections, ["schema", "transfer", "path"])


def _object(properties: dict[str, Schema], required: list[str], about: str = "") -> Schema:
    schema: Schema = {"type": "object"}
    if about:
        schema["description"] = " ".join(about.split())
    schema["properties"] = properties
    if required:
        schema["required"] = required
    return schema | {"additionalProperties": False}


def _named(schema: Schema) -> Schema:
    names = {"pattern": f"^{NAME.pattern}$"}
    return {"type": "object", "propertyNames": names, "additionalProperties": schema}


def _forms(models: Iterable[type[Section]], key: str, usual: str | None = None) -> Schema:
    """Give a section of several forms, which ``key`` tells apart."""
    forms = []
    for model in models:
        form = _section(model)
        if form["properties"][key]["enum"] == [usual]:
            form["required"].remove(key)
        forms.append(form)
    return {"oneOf": forms}


def _section(model: type[Section]) -> Schema:
    hints = get_type_hints(model, include_extras=True)
    properties, required = {}, []
    for name, kind in kinds(model).items():
        field = model.model_fields[name]
        if kind is not None:
            schema = kind.json_schema()
        elif get_origin(hints[name]) is Literal:
            schema = {"enum": list(get_args(hints[name]))}
        elif hints[name] in JSON_TYPES:
            schema = {"type": JSON_TYPES[hints[name]]}
        else:
            schema = SHAPES[name]
        if name in policy.PARAMETERS and model is not Kernel:
            schema = {"enum": list(policy.known(name))}
        if field.is_required():
            required.append(name)
        description = description_of(model, name)
        about = {"description": " ".join(description.split())} if description else {}
        # A reference has no other keys: draft 7 ignores those beside it.
        properties[name] = {"allOf": [schema], **about} if "$ref" in schema else schema | about
    return _object(properties, required, model.__doc__ or "")


def _described(what: str, more: dict[str, Schema]) -> list[Schema]:
    """Give all elements or queues, as their code describes them."""
    return [_one_of(what, description, more) for description in element.known(what).values()]


def _one_of(what: str, description: Description, more: dict[str, Schema]) -> Schema:
    properties: dict[str, Schema] = {what: {"const": description["name"]}}
    required = [what]
    for one in description["parameters"]:
        kind = one["kind"]
        own = PARAMETERS[kind] if kind in PARAMETERS else described.KINDS[kind].json_schema()
        properties[one["name"]] = {"allOf": [own], "description": " ".join(one["doc"].split())}
        if one["required"]:
            required.append(one["name"])
    return _object(properties | more, required, description["summary"])
