"""A judge of values by the model of the wire, in the part of JSON Schema that the model uses."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

TYPES: dict[str, Any] = {
    "string": str,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}


def fits(defs: dict[str, Any], schema: Any, value: Any) -> bool:
    """Whether a value fits a schema."""
    if isinstance(schema, bool):
        return schema
    for word, wanted in schema.items():
        check = CHECKS.get(word)
        if check is None:
            assert word in NOTES, f"the judge does not know {word}"
        elif not check(defs, schema, wanted, value):
            return False
    return True


NOTES = {"description", "default", "examples", "title", "$comment", "x-since", "x-stability"}


def is_type(name: str, value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "number":
        return number
    if name == "integer":
        return number and value == int(value)
    return isinstance(value, TYPES[name])


def _type(defs, schema, wanted, value):
    return any(is_type(t, value) for t in ([wanted] if isinstance(wanted, str) else wanted))


def _properties(defs, schema, wanted, value):
    return not isinstance(value, dict) or all(
        fits(defs, s, value[name]) for name, s in wanted.items() if name in value
    )


def _additional(defs, schema, wanted, value):
    known = schema.get("properties", {})
    return not isinstance(value, dict) or all(
        fits(defs, wanted, v) for name, v in value.items() if name not in known
    )


def _number(test):
    return lambda defs, schema, wanted, value: not is_type("number", value) or test(value, wanted)


def _sized(kind, test):
    return lambda defs, schema, wanted, value: not isinstance(value, kind) or test(len(value), wanted)


def _pattern(defs, schema, wanted, value):
    return not isinstance(value, str) or re.search(wanted, value) is not None


def _format(defs, schema, wanted, value):
    assert wanted == "date-time"
    if not isinstance(value, str):
        return True
    try:
        datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        return False
    return True


def _dependent(defs, schema, wanted, value):
    return not isinstance(value, dict) or all(
        n in value for name, needs in wanted.items() if name in value for n in needs
    )


def _dependent_schemas(defs, schema, wanted, value):
    return not isinstance(value, dict) or all(
        fits(defs, s, value) for name, s in wanted.items() if name in value
    )


def same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and a == b or is_type("number", a) and is_type("number", b) and a == b


CHECKS: dict[str, Any] = {
    "$ref": lambda defs, schema, wanted, value: fits(defs, defs[wanted.rsplit("/", 1)[1]], value),
    "type": _type,
    "const": lambda defs, schema, wanted, value: same(wanted, value),
    "enum": lambda defs, schema, wanted, value: any(same(w, value) for w in wanted),
    "oneOf": lambda defs, schema, wanted, value: sum(fits(defs, s, value) for s in wanted) == 1,
    "not": lambda defs, schema, wanted, value: not fits(defs, wanted, value),
    "required": lambda defs, schema, wanted, value: not isinstance(value, dict)
    or all(name in value for name in wanted),
    "properties": _properties,
    "additionalProperties": _additional,
    "items": lambda defs, schema, wanted, value: not isinstance(value, list)
    or all(fits(defs, wanted, v) for v in value),
    "minimum": _number(lambda value, least: value >= least),
    "maximum": _number(lambda value, most: value <= most),
    "minLength": _sized(str, lambda n, least: n >= least),
    "maxLength": _sized(str, lambda n, most: n <= most),
    "minItems": _sized(list, lambda n, least: n >= least),
    "maxItems": _sized(list, lambda n, most: n <= most),
    "pattern": _pattern,
    "format": _format,
    "dependentRequired": _dependent,
    "dependentSchemas": _dependent_schemas,
}
