import assert from "node:assert/strict";
import test from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  start,
  text,
  CancelledError,
  InputIdInUseError,
  Match,
  SessionEndedError,
  TimeoutError,
  UnknownSessionError,
  type Session,
} from "@ptywright/sdk";
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

test("one wait for many sessions", async () => {
  const client = await start();
  const script = "stty -echo; echo ready; read -r x; echo got $x; exec cat";
  const make = () => client.spawn("sh", ["-c", script], { tags: ["herd"] });
  const sessions = await Promise.all([make(), make(), make()]);
  const ids = sessions.map((s) => s.id).sort();
  const sorted = (of: readonly { session: string }[]) => of.map((m) => m.session).sort();
  const all = await client.waitMany("ready", { sessions, until: "all", timeout: 60_000 });
  assert.deepEqual(sorted(all.matched), ids);
  assert.equal(all.complete, true);
  assert.ok(all.matched[0]?.snapshot?.plain_text.includes("ready"));
  assert.deepEqual((await client.sessions())[0]?.tags, ["herd"]);

  const told: { session: string }[] = [];
  const each = client.waitMany(/got (\w+)/, {
    select: { tag: "herd" },
    until: "each",
    evidence: "none",
    timeout: 60_000,
    since: Object.fromEntries(all.matched.map((m) => [m.session, m.next])),
    onMatch: (m) => told.push(m),
  });
  for (const s of sessions) {
    await s.send("word\n");
    await s.wait("got", { timeout: 60_000 });
  }
  assert.deepEqual(sorted((await each).matched), ids);
  assert.deepEqual(sorted(told), ids);

  await assert.rejects(
    client.waitMany(text("never"), { sessions: ids, timeout: 0, evidence: "all" }),
    (e: unknown) => e instanceof TimeoutError && e.data.waiting === 3 && e.data.lacking?.length === 3,
  );
  await assert.rejects(client.waitMany("never", { sessions: ["s99"] }), UnknownSessionError);
  const stop = new AbortController();
  const never = client.waitMany("never", { sessions, signal: stop.signal });
  await client.call("server.capabilities", {});
  stop.abort();
  await assert.rejects(never, CancelledError);
  const [first] = sessions;
  assert.ok(first);
  await first.signal("kill");
  await assert.rejects(
    client.waitMany("never", { sessions: [first], until: "all", timeout: 60_000 }),
    (e: unknown) => e instanceof SessionEndedError && e.data.ended?.[0]?.exit?.signal === "SIGKILL",
  );
  await client.close();
});

test("an input that is sent again is not typed again", async () => {
  const client = await start();
  const script = "stty -echo; echo ready; while read -r x; do echo got $x; done";
  const s = await client.spawn("sh", ["-c", script]);
  await s.expect("ready");
  await s.send("one\n", { id: "a" });
  await s.send("one\n", { id: "a" });
  await assert.rejects(s.send("two\n", { id: "a" }), InputIdInUseError);
  await s.send("end\n", { id: "b" });
  const { screen } = await s.wait("got end");
  assert.equal(screen.text.split("got one").length - 1, 1);
  await client.close();
});
