"""Tries the client in examples/unterm: python3 unterm_client.py CLIENT ROOT. Prints one JSON object."""

import importlib.util
import json
import sys

spec = importlib.util.spec_from_file_location("client", sys.argv[1])
client = importlib.util.module_from_spec(spec)
spec.loader.exec_module(client)


def failure(call):
    try:
        call()
    except client.UntermError as err:
        return {"code": err.code, "message": str(err)}
    except OSError as err:
        return {"code": type(err).__name__, "message": str(err)}


said = {}
records = client.discover(sys.argv[2])
said["names"] = [r["id"] for r in records]
said["refused"] = failure(lambda: client.Unterm({**records[0], "auth_token": "wrong"}))
said["silent"] = failure(lambda: client.Unterm({**records[0], "mcp_port": 1}))

unterm = client.Unterm(records[0])
# Written at once: the slow one is answered first.
slow, info = unterm.calls([("exec.run_wait", {"id": 0, "command": "echo sl''ow ä€😀"}), ("instance.info", {})])
said["slow"], said["info"] = slow["output"], info["id"]
said["unknown"] = failure(lambda: unterm.calls([("no.such.method", {}), ("instance.info", {})]))
said["missing"] = failure(lambda: unterm.call("session.get", id=9))
unterm.close()
said["later"] = failure(lambda: unterm.call("session.list"))["message"]
print(json.dumps(said))
