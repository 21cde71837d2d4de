import assert from "node:assert/strict";
import test from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { start, CancelledError, Match, type Session } from "@ptywright/sdk";
import { children, descriptors, runs, until } from "./kit.js";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

const SESSIONS = 40;
const WAITS = 5; // in each session
const ROUNDS = 6;

test("40 sessions on one pipe, 200 waits in flight, half of them cancelled", async () => {
  const open = descriptors();
  const client = await start();
  const pid = client.pid ?? 0;
  const make = () => client.spawn("cat", { rows: 4, cols: 20, transcript: 4096 });
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, make));
  const used: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const stop = new AbortController();
    const waits = sessions.flatMap((s) =>
      Array.from({ length: WAITS }, (_, i) => {
        const signal = i % 2 === 0 ? stop.signal : undefined;
        const word = i % 2 === 0 ? "never" : `r${round}w${i}`;
        return s.wait(word, { signal, timeout: 120_000 }).catch((e: unknown) => e);
      }),
    );
    const asked = waits.length;
    assert.equal(asked, SESSIONS * WAITS);
    await client.call("server.capabilities", {}); // what was asked before has begun
    assert.equal(client.pending, asked);
    stop.abort();
    await Promise.all(sessions.map((s: Session) => s.send(`r${round}w1 r${round}w3\n`)));
    const results = await Promise.all(waits);
    results.forEach((r, i) => {
      const n = i % WAITS;
      if (n % 2 === 0) assert.ok(r instanceof CancelledError, String(r));
      else assert.ok(r instanceof Match && r.text === `r${round}w${n}`, String(r));
    });
    assert.equal(client.pending, 0);
    gc();
    used.push(process.memoryUsage().heapUsed);
  }
  // The first rounds compile; later ones keep nothing.
  const [before = 0, after = 0] = [used[2], used[ROUNDS - 1]];
  assert.ok(after - before < 2 << 20, `the heap grew: ${used.join(", ")}`);
  await client.close();
  assert.ok(!runs(pid));
  assert.deepEqual(children(), []);
  await until("descriptors are closed", () => descriptors() <= open);
});
