import assert from "node:assert/strict";
import test from "node:test";
import { spawn, NotATerminal, type Session } from "@ptywright/sdk";
import { failure, shell } from "./kit.js";

const person = (how = ""): Promise<Session> =>
  spawn(process.execPath, ["person.js", how], {
    rows: 30,
    cols: 90,
    env: { PTYWRIGHT_BIN: process.env["PTYWRIGHT_BIN"] }, // programs do not get it by themselves
  });

/** The terminal belongs to the outer program again. */
async function isBack(s: Session, size = "24x80"): Promise<void> {
  await s.expect(`size ${size}`); // the inner one has its size again, unless it has ended
  await s.send("mine\n");
  await s.expect("outer got mine");
  await s.expect({ exited: true });
  assert.equal((await s.exit())?.code, 0);
}

test("a person's terminal goes to the session and back", async () => {
  await using s = await person();
  await s.expect("inner$");
  await s.send("stty size\n");
  await s.wait(/^30 90$/m);
  await s.send("while :; do stty size; sleep 0.1; done\n");
  await s.resize(20, 70);
  await s.wait(/^20 70$/m);
  await s.press("ctrl+c");
  await s.press("ctrl+]");
  await s.expect("back: null");
  await isBack(s);
});

test("it comes back when the program ends, with how", async () => {
  await using s = await person();
  await s.expect("inner$");
  await s.send("exit 3\n");
  await s.expect('back: {"code":3,"signal":null,"draining":false,"killed":false}');
  await isBack(s, "30x90");
});

test("modes and the mouse are mirrored", async () => {
  await using s = await person();
  await s.expect("inner$");
  await s.send("printf '\\033[?1000;1006h\\033[?2004h'; cat -v\n");
  await s.expect(/cat -v$/m);
  await s.expect({ stable: 100 });
  const { wire } = await s.screen();
  assert.deepEqual([wire.mouse, wire.bracketed_paste], ["vt200", true]);
  await s.click(5, 7);
  await s.wait(/\^\[\[<0;8;6M\^\[\[<0;8;6m/);
  await s.press("ctrl+]");
  await s.expect("back: null");
  const after = (await s.screen()).wire;
  assert.deepEqual([after.mouse, after.bracketed_paste], ["none", false]);
  await isBack(s);
});

test("a signal takes it back", async () => {
  await using s = await person("abort");
  await s.expect("CancelledError");
  await isBack(s);
});

test("there has to be a terminal", async () => {
  await using s = await shell();
  const e = await failure(s.interact(), NotATerminal);
  assert.match(e.message, /run this in one/);
});
