"""The SDK and the model say the same."""

from __future__ import annotations

import inspect
import json
import keyword
from pathlib import Path

import ptywright
from judge import fits
from ptywright import _connection, _failures, wire

ROOT = Path(__file__).parents[3]
MODEL = json.loads((ROOT / "protocol/model.json").read_text())
VECTORS = json.loads((ROOT / "sdk/vectors.json").read_text())


def attribute(name):
    return name + "_" if keyword.iskeyword(name) else name


def test_vectors():
    """Every vector is judged as the server judges it."""
    wrong = [
        (v["def"], v["case"])
        for v in VECTORS
        if fits(MODEL["$defs"], MODEL["$defs"][v["def"]], v["value"]) != v["valid"]
    ]
    assert not wrong
    assert {v["def"] for v in VECTORS} == set(MODEL["$defs"])


def test_results_of_vectors_are_read():
    """Every member of every result that is valid is an attribute with its value."""
    read = 0
    for v in VECTORS:
        cls = getattr(wire, v["def"], None)
        if "jsonrpc" in MODEL["$defs"][v["def"]].get("properties", {}):
            continue  # an envelope, which the connection reads
        if not v["valid"] or not inspect.isclass(cls) or not issubclass(cls, ptywright.wire.Record):
            continue
        record = cls(v["value"])
        for name in v["value"]:
            if name in ("no_such_member", "reason"):
                continue
            made = getattr(record, attribute(name))
            if isinstance(made, (str, int, float, bool, type(None))):
                assert made == v["value"][name]
            read += 1
        for name in MODEL["$defs"][v["def"]].get("properties", {}):
            if name != "reason":
                getattr(record, attribute(name))
    assert read > 300


def test_every_method_is_a_call():
    names = {n.replace("$/cancelRequest", "cancel_request").replace(".", "_") for n in MODEL["methods"]}
    for name in names:
        assert inspect.isfunction(getattr(wire, name)), name
    for method in MODEL["methods"]:
        function = getattr(wire, method.replace("$/cancelRequest", "cancel_request").replace(".", "_"))
        params = MODEL["$defs"][MODEL["methods"][method]["params"]["$ref"].rsplit("/", 1)[1]]
        assert set(inspect.signature(function).parameters) == set(params.get("properties", {}))


def test_every_reason_is_a_class():
    assert set(_failures.ERRORS) == set(MODEL["errors"])
    for reason, cls in _failures.ERRORS.items():
        assert (cls.reason, cls.code) == (reason, MODEL["errors"][reason]["code"])
        assert getattr(ptywright, cls.__name__) is cls
        error = _connection.error_of({"code": cls.code, "message": "m", "data": {"reason": reason}}, "x.y")
        assert type(error) is cls and error.data.raw == {"reason": reason}


def test_evidence_is_printed_as_by_the_command_line():
    for line in json.loads((ROOT / "sdk/evidence.json").read_text()):
        error = _connection.error_of(line["error"], "session.wait")
        assert str(error) == line["text"]
