// Ten programs as a person uses them, REPEATS times each, beside BUSY loops that want a processor.
// Nothing is tried twice. The Python SDK's tests/programs.py drives the same.
import assert from "node:assert/strict";
import { execFileSync, spawn as run } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { regex, spawn, text } from "@ptywright/sdk";
import { folder } from "./kit.js";

const REPEATS = Number(process.env["REPEATS"] ?? 1);
const busy = Array.from({ length: Number(process.env["BUSY"] ?? 0) }, () =>
  // They end with this process, however it ends.
  run("sh", ["-c", `while kill -0 ${process.pid} 2>/dev/null; do :; done`], { stdio: "ignore" }),
);
after(() => busy.forEach((loop) => loop.kill()));

/** A test of one program, as often as was said. */
function program(name: string, drive: (dir: string) => Promise<void>): void {
  test(name, async (t) => {
    for (let i = 0; i < REPEATS; i++) {
      const dir = join(folder(t), String(i));
      mkdirSync(dir);
      await drive(dir);
    }
  });
}

const PLAIN = { PS1: "$ ", HISTFILE: "", LESS: "", LESSHISTFILE: "-", LC_ALL: "C.UTF-8" };

program("bash: exit codes, and a command that is interrupted", async (cwd) => {
  await using s = await spawn("bash", ["--norc"], { cwd, env: PLAIN, shellIntegration: true });
  assert.equal((await s.run("echo one > a; cat a")).output, "one\n");
  assert.equal((await s.run("false")).exitCode, 1);
  await s.send("echo reads; while read -r line; do echo got $line; done\n");
  await s.wait({ regex: /^reads$/m }); // not only typed: bash does not read it as a command any more
  await s.send("this\n");
  await s.wait({ regex: /^got this$/m });
  await s.press("ctrl+c");
  await s.expect({ regex: /\$$/ });
  await s.send("exit 7\n");
  assert.equal((await s.wait({ exited: true })).exit?.code, 7);
});

program("python: each answer feeds the next question", async () => {
  const env = { ...PLAIN, PYTHONSTARTUP: "", PYTHON_BASIC_REPL: "1" };
  await using s = await spawn("python3", ["-q"], { env });
  await s.expect({ regex: />>>$/ });
  let n = 1;
  for (let i = 0; i < 5; i++) {
    await s.send(`${n} * 3\n`);
    n = Number((await s.wait({ regex: /^(\d+)\n>>>/m })).text);
  }
  assert.equal(n, 243);
  await s.send("for i in range(3): print('line', i)\n\n");
  await s.wait({ regex: /^line 2\n>>>/m });
  await s.press("ctrl+d");
  assert.equal((await s.wait({ exited: true })).exit?.code, 0);
});

program("node: an error that is printed", async () => {
  await using s = await spawn(process.execPath, ["-i"], {
    env: { ...PLAIN, NODE_REPL_HISTORY: "" },
  });
  await s.expect({ regex: />$/ });
  await s.send("[1, 2].map(n => n * 7)\n");
  await s.wait("[ 7, 14 ]");
  await s.send("nothing\n");
  await s.wait("ReferenceError: nothing is not defined");
  await s.send(".exit\n");
  assert.equal((await s.wait({ exited: true })).exit?.code, 0);
});

program("vim: a file is written", async (cwd) => {
  await using s = await spawn("vim", ["-u", "NONE", "-N", "a.txt"], { cwd, env: PLAIN });
  await s.expect('"a.txt" [New]');
  await s.send("ihello\nworld");
  await s.wait({ regex: /^hello\nworld$/m });
  await s.press("escape");
  await s.send(":%s/world/there/\n");
  await s.wait({ regex: /^there$/m });
  await s.send(":wq\n");
  assert.equal((await s.wait({ exited: true })).exit?.code, 0);
  assert.equal(readFileSync(join(cwd, "a.txt"), "utf8"), "hello\nthere\n");
});

program("less: a long file is searched", async (cwd) => {
  const lines = Array.from({ length: 1000 }, (_, i) => `line ${i}\n`);
  writeFileSync(join(cwd, "long"), lines.join(""));
  await using s = await spawn("less", ["long"], { cwd, env: PLAIN });
  await s.expect("line 0");
  await s.send("/line 500\n");
  await s.expect({ regex: /^line 500\n/ });
  await s.send("G");
  await s.expect("line 999");
  await s.send("q");
  assert.equal((await s.wait({ exited: true })).exit?.code, 0);
});

program("fzf: one is chosen out of many", async () => {
  const names = Array.from({ length: 100 }, (_, i) => `name-${i}`).join("\n");
  await using s = await spawn("sh", ["-c", `echo '${names}' | fzf`], { env: PLAIN });
  await s.expect("100/100");
  await s.send("77");
  await s.expect(regex(/^\s*1\/100/m).and(text("name-77")));
  await s.press("enter");
  assert.equal((await s.wait({ exited: true })).exit?.code, 0);
  await s.expect({ regex: /^name-77$/m });
});

program("htop: a screen that is drawn anew all the time", async (dir) => {
  const env = { ...PLAIN, HTOPRC: join(dir, "htoprc") };
  await using s = await spawn("htop", ["-d", "5"], { rows: 30, cols: 100, env });
  await s.expect({ regex: /F10 ?Quit/, text: "PID" });
  await s.press("f3");
  await s.expect("Search:");
  await s.press("escape");
  await s.expect({ regex: /F10 ?Quit/ });
  await s.send("q");
  assert.equal((await s.wait({ exited: true })).exit?.code, 0);
});

program("sqlite3: statements over several lines, and an error", async (cwd) => {
  await using s = await spawn("sqlite3", ["a.db"], { cwd, env: { ...PLAIN, HOME: cwd } });
  await s.expect({ regex: /sqlite>$/ });
  await s.send("create table t (n);\ninsert into t\nvalues (20), (22);\n");
  await s.wait({ regex: /\.\.\.> values.*\nsqlite>$/ });
  await s.send("select 'sum', sum(n) from t;\n");
  await s.wait({ regex: /^sum\|42$/m });
  await s.send("select x;\n");
  await s.wait("no such column: x");
  await s.send(".quit\n");
  assert.equal((await s.wait({ exited: true })).exit?.code, 1); // since one statement failed
});

program("gdb: it asks before it quits", async (dir) => {
  const env = { ...PLAIN, DEBUGINFOD_URLS: "", HOME: dir };
  await using s = await spawn("gdb", ["-q", "-nx", "/bin/sleep"], { env });
  await s.expect({ regex: /\(gdb\)$/ });
  await s.send("print 6 * 7\n");
  await s.wait("$1 = 42");
  await s.send("starti 60\n");
  await s.wait(regex(/stopped/).and(regex(/\(gdb\)$/)));
  await s.send("quit\n");
  await s.wait("Quit anyway? (y or n)");
  await s.send("y\n");
  assert.equal((await s.wait({ exited: true })).exit?.code, 0);
});

program("ssh: a shell on another machine, which is this one", async (dir) => {
  const server = await sshd(dir);
  try {
    const args = [...server.args, "PS1='remote$ ' ENV= exec sh -i"];
    await using s = await spawn("ssh", args, { env: { ...PLAIN, SSH_AUTH_SOCK: "" } });
    await s.expect({ regex: /remote\$$/ });
    await s.send("echo $((6*7)) over $SSH_TTY\n");
    await s.wait({ regex: /^42 over \/dev\//m });
    await s.send("exit 5\n");
    assert.equal((await s.wait({ exited: true })).exit?.code, 5);
  } finally {
    server.close();
  }
});

/** Serves ssh on a port of the loopback, with keys made here. */
async function sshd(dir: string): Promise<{ args: string[]; close(): void }> {
  for (const key of ["host", "user"]) {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(dir, key)]);
  }
  copyFileSync(join(dir, "user.pub"), join(dir, "authorized"));
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const options = {
    ListenAddress: "127.0.0.1",
    Port: port,
    HostKey: join(dir, "host"),
    AuthorizedKeysFile: join(dir, "authorized"),
    PidFile: "none",
    StrictModes: "no",
    UsePAM: "no",
    PasswordAuthentication: "no",
    PrintMotd: "no",
    PrintLastLog: "no",
    SetEnv: `HOME=${dir}`, // bash reads the person's .bashrc for a command, too
  };
  const config = Object.entries(options).map((option) => `${option.join(" ")}\n`);
  writeFileSync(join(dir, "sshd_config"), config.join(""));
  const flags = ["-D", "-f", join(dir, "sshd_config"), "-E", join(dir, "log")];
  const server = run("/usr/sbin/sshd", flags, { stdio: "ignore" });
  const args = ["-tt", "-F", "none", "-i", join(dir, "user"), "-p", String(port)];
  args.push("-o", "StrictHostKeyChecking=no", "-o", `UserKnownHostsFile=${join(dir, "known")}`);
  // It listens a moment later: ssh asks again every second until then.
  args.push("-o", "ConnectionAttempts=30", "-o", "LogLevel=ERROR");
  args.push(`${userInfo().username}@127.0.0.1`);
  return { args, close: () => server.kill() };
}
