import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import {
  all,
  any,
  bell,
  cursor,
  exited,
  finished,
  located,
  not,
  output,
  regex,
  spawn,
  stable,
  start,
  text,
  title,
  AmbiguousError,
  CancelledError,
  CannotStartError,
  InvalidLocatorError,
  InvalidMatcherError,
  InvalidParamsError,
  Matcher,
  MomentNotKeptError,
  MouseNotRequestedError,
  NameTakenError,
  NoShellError,
  NotFoundError,
  PtywrightError,
  SessionEndedError,
  TimeoutError,
  UnknownSessionError,
} from "@ptywright/sdk";
import { failure, folder, shell } from "./kit.js";

test("the first lines", async () => {
  await using s = await spawn("sh", { env: { PS1: "$ " } });
  await s.expect({ regex: /\$$/ });
  await s.send("echo $((6*7))\n");
  const m = await s.wait({ regex: /^42$/m });
  assert.equal(m.text, "42");
  const e = await failure(s.wait({ text: "never-there", timeout: 300 }), TimeoutError);
  assert.match(String(e), /^the wait timed out\nno match after .*; the screen has been quiet for /);
  assert.match(String(e), /\n- contains_text "never-there": /);
  assert.match(String(e), /\nthe last screen, at sequence \d+ \(running\):\n\$ echo .*\n42\n\$/);
  assert.equal(e.reason, "timeout");
  assert.equal(e.code, -32001);
  assert.equal(e.method, "session.wait");
  assert.equal(e.evidence?.matcher.held, false);
  assert.ok(e instanceof PtywrightError && e instanceof Error);
});

test("a latched wait finds what was wiped at once", async () => {
  const lost = (n: number) => `printf 'lost ${n}\\033[2J\\033[Hready ${n}'; read -r _; `;
  await using s = await spawn("sh", ["-c", `stty -echo; ${lost(1)}${lost(2)}`]);
  await s.wait({ text: "ready 1" });
  const m = await s.wait({ text: "lost 1", latched: true, timeout: 0 });
  assert.equal(m.screen.text, "lost 1");
  assert.ok(m.heldAt instanceof Date && m.heldAt.getTime() <= Date.now() && !m.missed);
  await s.send("\n");
  await s.wait({ text: "ready 2" });
  assert.equal((await s.wait(regex(/lost (\d)/), { latched: true, timeout: 0 })).text, "2");
  await failure(s.wait({ text: "lost 2", timeout: 0 }), TimeoutError);
});

test("wait is an event: only what came after the last input counts", async () => {
  await using s = await shell();
  await s.send("echo one; echo two\n");
  const one = await s.wait({ regex: /^one$/m });
  const again = await s.wait({ regex: /^one$/m }); // counted from the same input
  assert.equal(again.text, "one");
  const two = await s.wait({ regex: /^(t.o)$/m, since: one.next });
  assert.equal(two.text, "two");
  assert.deepEqual(two.groups, ["two"]);
  await s.send("true\n");
  await s.wait(/\$$/);
  await failure(s.wait({ text: "two", timeout: 0 }), TimeoutError);
  await s.expect("two"); // it is on the screen still
});

test("a send that is not awaited still comes first", async () => {
  await using s = await shell();
  const sent = s.send("echo a\n");
  const m = await s.wait({ regex: /^a$/m });
  await sent;
  assert.equal(m.text, "a");
});

test("before any input everything counts, also what has scrolled off", async () => {
  await using s = await spawn("sh", ["-c", "seq 1 200; read x"]);
  await s.expect("200");
  const m = await s.wait({ regex: /^(\d)$/m });
  assert.equal(m.text, "1");
  await failure(s.expect({ regex: /^1$/m, timeout: 0 }), TimeoutError); // a state: not on the screen
});

test("a match has groups, names, what came before, and the screen", async () => {
  await using s = await shell();
  await s.send("echo start; echo key=value\n");
  const m = await s.wait(/^(?<name>\w+)=(?<value>\w+)(!)?$/m);
  assert.deepEqual(m.groups, ["key", "value", null]);
  assert.deepEqual(m.named, { name: "key", value: "value" });
  assert.match(m.before, /start/);
  assert.match(m.screen.text, /key=value/);
  assert.equal(m.screen.lines.length, 24);
  assert.equal(`${m.screen}`, m.screen.text);
  assert.ok(m.elapsed >= 0 && m.sequence > 0);
  assert.equal(m.index, undefined);
});

test("matchers are composed", async () => {
  await using s = await shell();
  await s.send("printf '\\033]2;a title\\007\\a'; echo ok\n");
  const m = await s.wait(any(text("no such"), all(regex(/^ok$/m), title("a title"))));
  assert.equal(m.index, 1);
  assert.equal(m.text, "ok");
  await s.wait(bell());
  await s.wait(title(/^a (title)$/).and(output("ok\r\n"), output(/o(k)/)));
  await s.expect(text("no such").not().and(not(text("nor this"))));
  await s.expect(text("no such").or(stable(1)));
  await s.expect(regex(/^\$$/m)); // the prompt, which moves the cursor
  const { cursor: at } = await s.screen();
  await s.expect(cursor(at.row, at.col));
  await s.expect({ cursor: [at.row, at.col], title: "title", text: "ok", regex: "o.", stable: 10 });
  assert.equal(JSON.stringify(text("x")), '{"type":"contains_text","value":"x"}');
  const own = new Matcher({ type: "contains_text", value: "ok", scope: "seen" });
  await s.wait(own);
  assert.throws(() => regex(/x/y), /the flag y/);
  await assert.rejects(s.wait({}), /say what to wait for/);
  await assert.rejects(s.expect(bell()), /bell is an event/);
  await assert.rejects(s.wait({ text: "x", timeout: NaN }), RangeError);
});

test("a RegExp becomes RE2", () => {
  const re2 = (r: RegExp) => (regex(r).wire as { value: string }).value;
  assert.equal(re2(/a\/b$/), "a\\/b$");
  assert.equal(re2(/^x.y/ims), "(?ims)^x.y");
  assert.equal(re2(/\u2713\\u0041/), "\\x{2713}\\\\u0041");
  assert.equal(re2(/\u{1f600}/u), "\\x{1f600}");
  assert.equal(re2(/\cA/), "\\x{1}");
});

test("what RE2 lacks is refused by name", async () => {
  await using s = await shell();
  const e = await failure(s.wait(/(?=x)/), InvalidMatcherError);
  assert.match(e.message, /session\.wait: /);
});

test("keys, paste and the mouse", async () => {
  await using s = await spawn("bash", ["--norc"], { env: { PS1: "$ " } });
  await s.expect(/[$#]$/);
  await s.send("echo ab");
  await s.press("left", "c", "ctrl+e", "enter");
  await s.wait(/^acb$/m);
  await s.paste("echo pasted");
  await s.press("enter");
  await s.wait(/^pasted$/m);
  await failure(s.click(0, 0), MouseNotRequestedError);
  await s.send("printf '\\033[?1000;1006h'; cat -v\n");
  await s.wait({ output: "\x1b[?1000;1006h" });
  await s.click(2, 3, { button: "right" });
  await s.wait(/\^\[\[<2;4;3M\^\[\[<2;4;3m/);
  await s.press("enter"); // cat has read the line
  await s.expect(/3m\n\^\[\[<2/);
  await s.signal("int");
  await s.wait(/[$#]$/);
  await assert.rejects(s.press(), /press which keys/);
});

test("places by what a person would call them", async () => {
  const menu =
    "stty raw -echo; printf '\\033[?1002;1006h+- One -+ +- Two -+\\r\\n| [ Go ]| | [ Go ]|\\r\\n+-------+ +-------+\\r\\n'; cat -v";
  await using s = await spawn("sh", ["-c", menu]);
  const place = await s.locate("'[ Go ]' in box 'Two'", { stable: true });
  assert.deepEqual([place.text, place.spans], ["[ Go ]", [{ row: 1, col: 12, cols: 6 }]]);
  assert.equal((await s.locateAll({ type: "text", value: "[ Go ]" })).length, 2);
  assert.deepEqual(await s.locateAll("'[ Stop ]'"), []);
  const several = await failure(s.locate("'[ Go ]'", { timeout: 0 }), AmbiguousError);
  assert.equal(several.data.places?.length, 2);
  const none = await failure(s.locate("'[ Goo ]'", { timeout: 0 }), NotFoundError);
  assert.match(none.data.nearest ?? "", /Go/);
  await failure(s.locate("'"), InvalidLocatorError);
  const pressed = await s.click("'[ Go ]' in box 'Two'", { at: "start", count: 2, button: "right" });
  assert.deepEqual([pressed.row, pressed.col], [1, 12]);
  await s.wait({ output: "^[[<2;13;2M^[[<2;13;2m^[[<2;13;2M^[[<2;13;2m" });
  assert.equal((await s.drag("'One'", { type: "text", value: "Two" })).length, 2);
  await s.wait({ output: "^[[<0;5;1M^[[<32;15;1M^[[<0;15;1m" });
  await s.scroll("box 'One'", "up", 2);
  await s.wait({ output: "^[[<64;5;2M^[[<64;5;2M" });
  await s.expect(located("'[ Go ]'", 2));
  await s.expect(not(located("'[ Stop ]'")));
  await s.gone("'[ Stop ]'");
  await failure(s.gone("box 'One'", { timeout: 0 }), TimeoutError);
});

test("until it is read", async () => {
  const told = (read: boolean) => (process.platform === "linux" ? read : null);
  await using s = await spawn("sh", ["-c", "echo ready; exec cat"]);
  await s.expect("ready");
  assert.equal(await s.send("hello\n", { until: "read" }), told(true));
  assert.equal(await s.send("half", { until: "read" }), null);
  assert.equal(await s.press("backspace", "enter", { until: "read" }), told(true));
  await s.wait(/^hal$/m);
  assert.equal(await s.paste("a line\n", { until: "read" }), told(true));
  assert.equal(await s.press("enter"), null);
  await assert.rejects(s.press({ until: "read" }), /press which keys/);
  await using deaf = await spawn("sh", ["-c", "echo ready; exec sleep 1000"]);
  await deaf.expect("ready");
  assert.equal(await deaf.press("enter", { until: "read", timeout: 50 }), told(false));
});

test("a line feed is the Enter key", async () => {
  await using s = await spawn("sh", ["-c", "stty raw -echo; echo ready; exec cat -v"]);
  await s.expect("ready");
  await s.send("a\nb\r\nc\r");
  await s.wait("a^Mb^Mc^M");
  await s.press("ctrl+j");
  await s.wait({ output: "\n" });
});

test("run returns output and exit code", async () => {
  await using s = await spawn("bash", ["--norc"], { shellIntegration: true });
  const r = await s.run("printf 'a\\tb  \\n'; exit_with() { return 3; }; exit_with");
  assert.deepEqual([r.output, r.exitCode, r.truncated, r.exit], ["a\tb  \n", 3, false, null]);
  await s.send("(exit 4)\n");
  await s.wait(finished(4));
  await using cat = await spawn("cat");
  await failure(cat.run("true"), NoShellError);
});

test("resize counts as an input, and the screen has the size", async () => {
  const script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done";
  await using s = await spawn("sh", ["-c", script]);
  await s.expect("ready");
  await s.resize(30, 100);
  await s.wait("30 100");
  const screen = await s.screen();
  assert.deepEqual([screen.rows, screen.cols], [30, 100]);
  await failure(s.resize(0, 5), PtywrightError);
});

test("cells and secrets", async () => {
  await using s = await shell();
  await s.send("printf '\\033[31mred\\033[0m password=hunter2hunter2\\n'\n");
  await s.wait(/^red/m);
  const { cells, text: shown } = await s.screen({ cells: "runs" });
  assert.equal(cells.find((c) => c.text === "red")?.style.foreground, "idx:1");
  assert.doesNotMatch(shown, /hunter2/);
  assert.match((await s.screen({ redact: false })).text, /hunter2/);
  assert.doesNotMatch(await s.transcript(), /hunter2/);
});

test("how a program ends", async () => {
  await using s = await spawn("sh", ["-c", "read x; exit $x"]);
  assert.equal(await s.exit(), null);
  await s.send("7\n");
  const m = await s.wait({ exited: true });
  assert.deepEqual(m.screen.exit, {
    code: 7,
    signal: null,
    draining: false,
    limit: undefined,
    killed: false,
  });
  assert.equal((await s.exit())?.code, 7);
  const e = await failure(s.wait("no more"), SessionEndedError);
  assert.match(String(e), /\(exit 7\):/);
  await using killed = await spawn("sleep", ["1000"]);
  await killed.kill();
  assert.equal((await killed.expect(exited())).screen.exit?.signal, "SIGHUP");
  await killed.close();
  await killed.close(); // twice is once
  await failure(killed.screen(), UnknownSessionError);
});

test("recordings", async (t) => {
  await using s = await shell();
  const path = join(folder(t), "a.cast");
  {
    await using recording = await s.record(path, { title: "a" });
    assert.equal(recording.path, path);
    await s.send("echo recorded\n");
    await s.wait(/^recorded$/m);
  }
  assert.match(readFileSync(path, "utf8"), /^\{"version":2[^\n]*\n[^]*recorded/);
  const document = join(folder(t), "a.md");
  const r = await s.record(document);
  const { state, format } = await r.stop();
  assert.deepEqual([state, format], ["done", "markdown"]);
  assert.ok(existsSync(document));
});

test("errors tell what to do, and nothing of the program's arguments or environment", async () => {
  const e = await failure(
    spawn("no-such-program", ["secret-argument"], { env: { KEY: "secret-value" } }),
    CannotStartError,
  );
  assert.match(e.message, /no-such-program/);
  assert.doesNotMatch(JSON.stringify([e, e.message, e.stack]), /secret-/);
  await using s = await shell();
  // Unknown members are refused, since a client is strict.
  const call = s.client.call as (method: string, params: object) => Promise<unknown>;
  const strict = call.call(s.client, "session.snapshot", { session: s.id, cels: "none" });
  assert.match((await failure(strict, InvalidParamsError)).message, /did you mean cells/);
});

test("a client has many sessions", async () => {
  await using client = await start();
  assert.equal(client.capabilities.protocol, 1);
  const a = await client.spawn("cat", { name: "one" });
  const b = await client.spawn("cat", { name: "two" });
  await failure(client.spawn("cat", { name: "one" }), NameTakenError);
  const list = await client.sessions();
  assert.deepEqual(
    list.map((s) => [s.session, s.name]),
    [
      [a.id, "one"],
      [b.id, "two"],
    ],
  );
  assert.equal((await client.session("two")).id, b.id);
  await failure(client.session("three"), UnknownSessionError);
  await a.send("to a\n");
  await b.send("to b\n");
  await Promise.all([a.wait(/^to a\nto a$/m), b.wait(/^to b\nto b$/m)]);
  const { matches } = await client.call("session.search", { session: a.id, text: "to" });
  assert.equal(matches.length, 2);
  assert.equal((await a.call("session.search", { text: "to b" })).total, 0);
  assert.equal(client.pending, 0);
});

test("notifications", async () => {
  await using client = await start();
  const s = await client.spawn("sh", ["-c", "read x; echo $x; exit 3"]);
  const other = await client.spawn("sh", ["-c", "echo other; sleep 1000"]);
  await using everything = client.notifications();
  await using mine = client.notifications({ sessions: [s] });
  await s.send("told\n");
  let said = "";
  for await (const n of mine) {
    if ("session" in n.params) assert.equal(n.params.session, s.id);
    if (n.method === "session.output") said += n.params.output;
    if (n.method !== "session.exited") continue;
    assert.equal(n.params.exit_code, 3);
    break;
  }
  assert.match(said, /told\r\ntold\r\n/);
  await other.kill();
  for await (const n of everything) {
    if (n.method === "session.exited" && n.params.session === other.id) break;
  }
  assert.deepEqual(await everything.next(), { value: undefined, done: true });
  const signal = AbortSignal.abort();
  for await (const n of client.notifications({ signal })) assert.fail(n.method);
});

test("notifications of events are for who asks for them", async () => {
  await using client = await start();
  const s = await client.spawn("sh", ["-c", "read x; echo $x; read x"]);
  await using plain = client.notifications({ sessions: [s] });
  await using told = client.notifications({ sessions: [s], events: true });
  await s.send("told\n");
  let by: string | undefined = "";
  for await (const n of told) {
    if (n.method === "session.event" && n.params.event.kind === "input") {
      by = n.params.event.by;
      break;
    }
  }
  assert.match(by ?? "", /^session\.test\S* \d+$/); // the name of this program, and a number
  await s.kill();
  for await (const n of plain) {
    assert.notEqual(n.method, "session.event");
    if (n.method !== "session.exited") continue;
    assert.equal(n.params.killed, true);
    break;
  }
  assert.equal((await s.exit())?.killed, true);
  assert.equal((await s.screen()).exit?.killed, true);
  const other = await client.spawn("true");
  assert.equal((await other.wait({ exited: true })).exit?.killed, false);
});

test("an AbortSignal cancels on the server, with the evidence", async () => {
  await using s = await shell();
  const stop = new AbortController();
  const why = new Error("enough");
  const waiting = s.wait("never", { signal: stop.signal });
  await s.client.call("server.capabilities", {}); // it is under way
  assert.equal(s.client.pending, 1);
  stop.abort(why);
  const e = await failure(waiting, CancelledError);
  assert.equal(e.cause, why);
  assert.match(String(e), /- contains_text "never"/);
  assert.equal(s.client.pending, 0);
  const never = await failure(s.send("x", { signal: stop.signal }), CancelledError);
  assert.equal(never.cause, why);
  // What was done all the same is undone.
  const before = (await s.client.sessions()).length;
  const late = new AbortController();
  const spawned = s.client.spawn("cat", { signal: late.signal });
  late.abort();
  await failure(spawned, CancelledError);
  assert.equal((await s.client.sessions()).length, before);
  await failure(s.wait("never", { signal: AbortSignal.timeout(10) }), CancelledError);
});

test("the past is asked, and shown as it was", async () => {
  const rounds = "for i in 1 2; do read go; printf '\\033[2J\\033[Hround %s' $i; read go; printf '\\033[2J\\033[Hnothing'; done; read go";
  await using s = await spawn("sh", ["-c", rounds]);
  for (const what of ["round 1", "nothing", "round 2", "nothing"]) {
    await s.send("\n");
    await s.wait(what);
  }
  const spans = await s.history(/round (\d)/);
  assert.deepEqual(
    spans.map((x) => x.screen.text),
    ["round 1", "round 2"],
  );
  assert.ok(spans.complete && spans.keptFrom === 0);
  for (const x of spans) {
    assert.equal((await s.screen({ at: x.from })).text, x.screen.text);
    assert.ok(x.to !== null && x.to > x.from && x.ms >= 0 && x.fromAt <= x.toAt && x.outcome.kind === "screen_regex");
  }
  assert.equal((await s.history("round", { which: "first" }))[0]?.from, spans[0]?.from);
  assert.equal((await s.history({ text: "round" }, { which: "last" }))[0]?.from, spans[1]?.from);
  assert.equal((await s.history("round", { since: { ago: 0 } })).length, 0);
  assert.equal((await s.screen({ at: { ago: 0 } })).text, "nothing");
  await failure(s.screen({ at: 1_000_000 }), MomentNotKeptError);
  await failure(s.screen({ at: new Date(0) }), MomentNotKeptError);
});
