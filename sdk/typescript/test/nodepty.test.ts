// The rows of "Coming from node-pty" in docs/typescript.md, run on both sides.
import assert from "node:assert/strict";
import test, { after } from "node:test";
import xterm from "@xterm/headless";
import pty from "node-pty";
import { spawn } from "@ptywright/sdk";
import { runs, until } from "./kit.js";

const env = { ...process.env, PS1: "$ ", ENV: "" } as Record<string, string>;

/** A shell with node-pty, and the screen that @xterm/headless makes of what it writes. */
function theirs() {
  const term = new xterm.Terminal({ rows: 24, cols: 80, allowProposedApi: true });
  const p = pty.spawn("sh", [], { rows: 24, cols: 80, name: "xterm-256color", env });
  let output = "";
  const waiting: (() => void)[] = [];
  p.onData((d) => {
    output += d;
    term.write(d, () => waiting.splice(0).forEach((look) => look()));
  });
  term.onData((d) => p.write(d));
  const lines = () =>
    Array.from({ length: term.rows }, (_, y) =>
      (term.buffer.active.getLine(y)?.translateToString(true) ?? "").trimEnd(),
    );
  const wait = async (holds: (output: string, lines: string[]) => boolean) => {
    while (!holds(output, lines())) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  return { p, term, lines, wait, output: () => output };
}

const a = theirs();
const b = await spawn("sh", { env: { PS1: "$ ", ENV: "" }, rows: 24, cols: 80 });
after(async () => {
  a.p.kill();
  await b.client.close();
});

test("start, and the screen", async () => {
  await a.wait((_, lines) => lines[0] === "$");
  await b.expect({ regex: /^\$$/ });
  assert.deepEqual(a.lines(), (await b.screen()).lines.map((l) => l.trimEnd()));
});

test("type, and wait for output", async () => {
  a.p.write("echo $((6*7))\r");
  await a.wait((_, lines) => lines.includes("42") && lines[2] === "$");
  await b.send("echo $((6*7))\n");
  await b.wait({ regex: /^42\n\$$/m });
  assert.deepEqual(a.lines(), (await b.screen()).lines.map((l) => l.trimEnd()));
  assert.match(a.output(), /\r\n42\r\n/);
  assert.match(await b.transcript(), /\r\n42\r\n/);
});

test("a key, as the program's mode asks", async () => {
  a.p.write("printf '\\033[?1h'; cat -v\r");
  await a.wait((_, lines) => lines.some((l) => l.endsWith("cat -v")) && a.term.modes.applicationCursorKeysMode);
  a.p.write(a.term.modes.applicationCursorKeysMode ? "\x1bOA" : "\x1b[A");
  await a.wait((_, lines) => lines.some((l) => l.includes("^[OA")));
  await b.send("printf '\\033[?1h'; cat -v\n");
  await b.wait("cat -v");
  await b.expect({ stable: 50 });
  await b.press("up");
  await b.wait("^[OA");
  a.p.write("\x03");
  await b.press("ctrl+c");
  // The prompt, too: what is typed before it would be echoed before it.
  await a.wait((_, lines) => /\^C\n\$$/.test(lines.join("\n").trimEnd()));
  await b.wait({ regex: /\^C\n\$$/ });
});

test("resize", async () => {
  a.p.resize(100, 30);
  a.term.resize(100, 30);
  a.p.write("stty size\r");
  await a.wait((_, lines) => lines.includes("30 100"));
  await b.resize(30, 100);
  await b.send("stty size\n");
  await b.wait({ regex: /^30 100$/m });
});

test("the end", async () => {
  const exit = new Promise<number>((resolve) => a.p.onExit(({ exitCode }) => resolve(exitCode)));
  a.p.write("exit 3\r");
  assert.equal(await exit, 3);
  await b.send("exit 3\n");
  assert.equal((await b.wait({ exited: true })).screen.exit?.code, 3);
});

test("end it: one process, or all that it has started", async () => {
  const left = "trap '' HUP; sleep 1000 & echo pid $!; wait";
  const p = pty.spawn("sh", ["-c", left], { env });
  const pid = await new Promise<number>((resolve) => {
    let said = "";
    p.onData((d) => {
      said += d;
      const m = /pid (\d+)\r/.exec(said);
      if (m) resolve(Number(m[1]));
    });
  });
  p.kill("SIGKILL");
  assert.ok(runs(pid)); // still there
  process.kill(pid, "SIGKILL");
  const s = await spawn("sh", ["-c", left]);
  const ours = Number((await s.wait({ regex: /pid (\d+)/ })).text);
  await s.close();
  await until("it ends", () => !runs(ours));
});

test("secrets", async () => {
  await using s = await spawn("sh", ["-c", "echo password=hunter2hunter2; read x"]);
  await s.expect("password=");
  assert.doesNotMatch((await s.screen()).text, /hunter2/);
  assert.match((await s.screen({ redact: false })).text, /hunter2/);
});
