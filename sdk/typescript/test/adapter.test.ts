import assert from "node:assert/strict";
import test from "node:test";
import { start, OwnedByAdapterError, UnknownIntentError, UnknownPluginError } from "@ptywright/sdk";
import { failure } from "./kit.js";

test("an adapter drives its session", async () => {
  await using client = await start();
  await using repl = await client.adapter("repl", { program: "python3", args: ["-q"] });
  assert.equal(repl.plugin, "repl");
  await repl.wait();
  const turn = await repl.turn("eval", { code: "6 * 7" });
  assert.equal(turn.receipt.submitted, true);
  assert.equal((turn.state.metadata as { output?: string }).output?.trim(), "42");
  assert.equal((await repl.state()).state, turn.state.state);
  assert.ok((await repl.events()).events.length > 0);
  assert.ok((await repl.explain()).rule.length > 0);
  assert.match((await repl.session.screen()).text, /42/);
  const again = await repl.wait(undefined, { since: turn.receipt.sequence, latched: true });
  assert.ok(again.held_at !== null && !again.missed);
  assert.ok((await repl.turn("eval", { code: "1" }, { latched: true })).held_at !== null);
  assert.equal(repl.session.adapter, repl);
  await failure(repl.session.send("x"), OwnedByAdapterError);
  await failure(repl.send("no such intent"), UnknownIntentError);
  await failure(client.adapter("no-such-plugin"), UnknownPluginError);
  await repl.session.close(); // closes the adapter
  assert.deepEqual(await client.sessions(), []);
});
