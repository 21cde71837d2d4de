import assert from "node:assert/strict";
import { execFile, spawn as run } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import test from "node:test";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import {
  connect,
  spawn,
  start,
  BinaryNotFound,
  Client,
  ClientClosed,
  InputBlockedError,
  InvalidActionError,
  ProtocolError,
  PtywrightError,
  ServerGone,
  ServerStuck,
  SessionEndedError,
  TimeoutError,
} from "@ptywright/sdk";
import { Connection } from "./node_modules/@ptywright/sdk/dist/connection.js";
import { children, descriptors, failure, folder, runs, shell, until } from "./kit.js";

const BIN = process.env["PTYWRIGHT_BIN"] ?? "";

/** Runs something with other variables of the environment. */
async function withEnv(env: Record<string, string | undefined>, f: () => Promise<void>) {
  const set = (all: Record<string, string | undefined>) => {
    for (const [name, value] of Object.entries(all)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  set(env);
  try {
    await f();
  } finally {
    set(before);
  }
}

/** A program that answers each request with what `answer`, the body of a function, returns. */
function fake(dir: string, answer: string): string {
  const path = join(dir, "fake");
  const script = `#!${process.execPath}
    const lines = require("node:readline").createInterface({ input: process.stdin });
    const answer = (id, method, params) => { ${answer} };
    lines.on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      const said = { jsonrpc: "2.0", id, ...answer(id, method, params) };
      if (id !== undefined) process.stdout.write(JSON.stringify(said) + "\\n");
    });`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

test("the server is killed", async () => {
  const client = await start();
  const s = await client.spawn("cat");
  const waiting = s.wait("never");
  const notes = client.notifications();
  process.kill(client.pid ?? 0, "SIGKILL");
  const e = await failure(waiting, ServerGone);
  assert.equal(e.signal, "SIGKILL");
  assert.equal(e.exitCode, null);
  assert.match(e.message, /^session\.wait: the server .* has ended \(SIGKILL\); .*spawn\(\) and start\(\) make another/);
  await failure(s.send("x"), ServerGone);
  await failure(notes.next(), ServerGone);
  assert.ok(client.isClosed);
  await s.close(); // there is nothing to close
  await client.close();
});

test("the shared server is made anew after its end", async () => {
  const a = await spawn("cat");
  process.kill(a.client.pid ?? 0, "SIGKILL");
  await failure(a.wait("never"), ServerGone);
  await using b = await spawn("cat");
  assert.notEqual(b.client.pid, a.client.pid);
  await b.client.close();
  await failure(b.screen(), ClientClosed);
  await (await spawn("cat")).client.close();
});

test("there is no binary", async (t) => {
  await withEnv({ PTYWRIGHT_BIN: "/no/such/file" }, async () => {
    const e = await failure(start(), BinaryNotFound);
    assert.match(e.message, /PTYWRIGHT_BIN is \/no\/such\/file, .*correct or unset it/);
  });
  await withEnv({ PTYWRIGHT_BIN: undefined, PATH: folder(t) }, async () => {
    const e = await failure(start(), BinaryNotFound);
    assert.match(e.message, /PTYWRIGHT_BIN is not set, the package @ptywright\/cli-/);
    assert.match(e.message, /install @ptywright\/cli-/);
    assert.equal(e.tried.length, 2);
  });
  const e = await failure(start({ binary: "/no/such/file" }), BinaryNotFound);
  assert.match(e.message, /ENOENT/);
});

test("the binary is found on the PATH, and in the package of this system", async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, "ptywright"), `#!/bin/sh\nexec '${BIN}' "$@"\n`, { mode: 0o755 });
  await withEnv({ PTYWRIGHT_BIN: undefined, PATH: `${dir}:${process.env["PATH"]}` }, async () => {
    await (await start()).close();
  });
});

test("the binary is of another version, or something else", async (t) => {
  const dir = folder(t);
  const speaks = (members: string) =>
    fake(dir, `return { result: { name: "ptywright", version: "9.9", ${members} } };`);
  const newer = await failure(start({ binary: speaks("protocol: 2") }), ProtocolError);
  assert.match(newer.message, /speaks version 2 of the wire, and this package version 1/);
  assert.match(newer.message, /update @ptywright\/sdk$/);
  assert.deepEqual([newer.server, newer.client], [2, 1]);
  const older = await failure(start({ binary: speaks("") }), ProtocolError);
  assert.match(older.message, /update ptywright$/);
  const other = await failure(start({ binary: "/bin/true" }), ProtocolError);
  assert.match(other.message, /\/bin\/true does not serve version 1 of the wire: .*exit code 0/);
  const echo = await failure(start({ binary: fake(dir, "return { method };") }), ProtocolError);
  assert.match(echo.message, /sent no answer/);
  const noise = join(dir, "noise");
  writeFileSync(noise, "#!/bin/sh\necho hello\ncat >/dev/null\n", { mode: 0o755 });
  const e = await failure(start({ binary: noise }), ProtocolError);
  assert.match(e.message, /sent something that is not a message/);
});

test("a server that says why it ends is quoted", async (t) => {
  const path = join(folder(t), "ends");
  writeFileSync(path, "#!/bin/sh\necho 'no room left' >&2\nexit 3\n", { mode: 0o755 });
  const e = await failure(start({ binary: path }), ProtocolError);
  assert.match(e.message, /\(exit code 3\).*it last said:\nno room left/s);
});

test("a newer server may say more", async (t) => {
  const binary = fake(
    folder(t),
    `if (method === "server.capabilities") return { result: { protocol: 1, new_member: 1 } };
     if (method.startsWith("server.")) return { result: {} };
     if (method === "session.create") return { result: { session: "s1", more: true } };
     return { error: { code: -39999, message: "something new", data: { reason: "brand_new" } } };`,
  );
  await using client = await start({ binary });
  const s = await client.spawn("x");
  const e = await failure(s.screen(), PtywrightError);
  assert.equal(e.constructor, PtywrightError);
  assert.deepEqual([e.reason, e.code, e.message], ["brand_new", -39999, "session.snapshot: something new"]);
  const odd = fake(
    folder(t),
    `if (method === "server.capabilities") return { result: { protocol: 1 } };
     if (method.startsWith("server.")) return { result: {} };
     return { error: { code: -1, message: "m", data: { reason: "constructor" } } };`,
  );
  await using other = await start({ binary: odd });
  assert.equal((await failure(other.spawn("x"), PtywrightError)).constructor, PtywrightError);
});

test("the session ends under a wait", async () => {
  await using s = await spawn("sh", ["-c", "read x; exit 5"]);
  const waiting = failure(s.wait("never"), SessionEndedError);
  await s.send("\n");
  const e = await waiting;
  assert.match(String(e), /\(exit 5\):/);
  await using closed = await shell();
  const under = failure(closed.wait("never"), PtywrightError);
  await closed.close();
  await under;
});

test("a program that does not read", async () => {
  await using s = await spawn("sh", ["-c", "stty raw -echo; echo ready; exec sleep 1000"]);
  await s.wait("ready");
  const e = await failure(s.send("x".repeat(1 << 20), { timeout: 50 }), InputBlockedError);
  assert.match(e.message, /session\.input: /);
  assert.ok((e.data.written ?? 0) < 1 << 20);
});

test("until it is read", { skip: process.platform !== "linux" }, async () => {
  await using reader = await spawn("sh", ["-c", "echo ready; exec cat"]);
  await reader.wait("ready");
  assert.equal(await reader.send("hello\n", { until: "read" }), true);
  await reader.wait("hello");
  assert.equal(await reader.send("half", { until: "read" }), null);
  assert.equal(await reader.paste(" a line\n", { until: "read" }), true);
  await using deaf = await spawn("sh", ["-c", "echo ready; exec sleep 1000"]);
  await deaf.wait("ready");
  assert.equal(await deaf.send("x\n", { until: "read", timeout: 50 }), false);
});

test("a server that neither reads nor answers", async () => {
  const before = descriptors();
  const connection = await Connection.start(BIN, ["serve", "--stdio"], 2000);
  const client = await Client.open(connection as never, BIN);
  const s = await client.spawn("cat");
  process.kill(client.pid ?? 0, "SIGSTOP");
  // More than a pipe holds, so that this client cannot write it.
  const all = [
    failure(s.wait("never", { timeout: 0 }), ServerStuck),
    ...Array.from({ length: 20 }, () => failure(s.send("x".repeat(1 << 18)), ServerStuck)),
  ];
  const [e] = await Promise.all(all);
  assert.match(e?.message ?? "", /runs and has not answered for .*; it was killed: spawn\(\)/);
  await client.close();
  await until("descriptors are closed", () => descriptors() <= before);
});

test("a server that takes long, and lives, is waited for", async () => {
  const connection = await Connection.start(BIN, ["serve", "--stdio"], 2000);
  const { session } = (await connection.call("session.create", { program: "cat" })) as {
    session: string;
  };
  const params = { session, matcher: { type: "contains_text", value: "x" }, timeout_ms: 5000 };
  // It is due at once here: long after that the server is asked whether it lives, and it does.
  await failure(connection.call("session.wait", params, {}, 0), TimeoutError);
  await connection.close();
});

test("nothing listens, or it ends", async (t) => {
  const e = await failure(connect(join(folder(t), "none")), ServerGone);
  assert.match(e.message, /^connect to .*ENOENT.*; start one with ptywright serve, or use start\(\)/);
  const path = join(folder(t), "closes");
  const server = createServer((socket) => socket.end()).listen(path);
  await once(server, "listening");
  await failure(connect(path), ProtocolError);
  server.close();
});

test("a server that others use", async (t) => {
  const dir = folder(t);
  const socket = join(dir, "socket");
  const server = run(BIN, ["serve", "--socket", socket], { stdio: "ignore" });
  await withEnv({ PTYWRIGHT_SOCKET: socket }, async () => {
    let client: Client | undefined;
    for (let i = 0; client === undefined && i < 400; i++) {
      client = await connect().catch(() => undefined);
      if (client === undefined) await new Promise((resolve) => setTimeout(resolve, 25));
    }
    assert.ok(client);
    const s = await client.spawn("cat", { name: "stays" });
    await client.close();
    const again = await connect(socket);
    assert.equal((await again.session("stays")).id, s.id);
    const waiting = (await again.session("stays")).wait("never");
    server.kill("SIGKILL");
    const e = await failure(waiting, ServerGone);
    assert.match(e.message, /the server at .* has ended; connect\(\) again/);
    await again.close();
  });
});

test("calls in progress end with the client", async () => {
  const client = await start();
  const s = await client.spawn("cat");
  const waiting = failure(s.wait("never"), ClientClosed);
  await client.close();
  assert.match((await waiting).message, /session\.wait: the client was closed; make another/);
  await failure(s.screen(), ClientClosed);
  await s.close();
});

test("nothing is left: no process, no descriptor, nothing that keeps Node running", async () => {
  await (await spawn("cat")).client.close(); // the shared one of other tests
  await until("other tests' processes end", () => children().length === 0);
  const open = descriptors();
  const before = process.getActiveResourcesInfo();
  const client = await start();
  const pid = client.pid ?? 0;
  const s = await client.spawn("sh", ["-c", "sleep 1000 & sleep 1000"]);
  await s.expect(/^/);
  const stop = new AbortController();
  const waits = Array.from({ length: 20 }, () => s.wait("never", { signal: stop.signal }));
  const settled = Promise.allSettled(waits);
  stop.abort();
  await settled;
  await client.close();
  assert.ok(!runs(pid));
  assert.deepEqual(children(), []);
  await until("descriptors are closed", () => descriptors() <= open);
  // What others had before may end meanwhile.
  const added = () => {
    const old = [...before];
    return process.getActiveResourcesInfo().filter((kind) => {
      const i = old.indexOf(kind);
      if (i >= 0) old.splice(i, 1);
      return i < 0;
    });
  };
  await until("nothing keeps Node running", () => added().length === 0);
});

test("a process that forgets to close ends by itself, and takes all with it", async (t) => {
  const script = join(folder(t), "forgets.mjs");
  const sdk = import.meta.resolve("@ptywright/sdk");
  writeFileSync(
    script,
    `import { spawn } from ${JSON.stringify(sdk)};
     const s = await spawn("sh", ["-c", "sleep 1000 & sleep 1000"]);
     console.log(s.client.pid);
     if (process.argv[2] === "throw") await s.wait({ text: "never", timeout: 1 });`,
  );
  const node = promisify(execFile);
  const { stdout } = await node(process.execPath, [script]);
  await until("the server ends", () => !runs(Number(stdout)));
  const failed = (await node(process.execPath, [script, "throw"]).catch((e: unknown) => e)) as {
    code: number;
    stderr: string;
    stdout: string;
  };
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /TimeoutError: the wait timed out\nno match after /);
  await until("the server ends", () => !runs(Number(failed.stdout)));
});

test("another event loop has a server of its own", async (t) => {
  await using mine = await spawn("cat");
  const script = join(folder(t), "worker.mjs");
  writeFileSync(
    script,
    `import { parentPort } from "node:worker_threads";
     import { spawn } from ${JSON.stringify(import.meta.resolve("@ptywright/sdk"))};
     const s = await spawn("cat");
     await s.send("in a worker\\n");
     await s.wait("in a worker");
     parentPort.postMessage(s.client.pid);
     await s.client.close();`,
  );
  const worker = new Worker(script);
  const [pid] = (await once(worker, "message")) as [number];
  assert.notEqual(pid, mine.client.pid);
  await once(worker, "exit");
  assert.ok(!runs(pid));
  await mine.send("still here\n");
  await mine.wait("still here");
  await mine.client.close();
});

test("an error's stack has the line of the program that made the call", async () => {
  await using client = await start();
  const s = await client.spawn("cat");
  async function mine() {
    await s.wait({ text: "never", timeout: 1 });
  }
  assert.match((await failure(mine(), TimeoutError)).stack ?? "", /\n    at mine .*bad\.test/);
  const wrong = async () => {
    await s.press("nokey");
  };
  assert.match((await failure(wrong(), InvalidActionError)).stack ?? "", /\n    at async wrong .*bad\.test/);
  // Also when nobody awaits it at once, and when the client was closed.
  await s.send("x\n");
  const first = () => s.wait({ text: "never", timeout: 1 });
  const second = () => s.expect({ text: "never", timeout: 60_000 });
  const failed = failure(first(), TimeoutError);
  const closed = failure(second(), ClientClosed);
  await s.screen();
  const e = await failed;
  assert.match(e.stack ?? "", /\n    at first .*bad\.test/);
  assert.ok(e.stack?.startsWith(`TimeoutError: ${e.message}\n`));
  await client.close();
  assert.match((await closed).stack ?? "", /\n    at second .*bad\.test/);
});

test("a program that keeps no stacks gets its errors", async () => {
  await using s = await spawn("cat");
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    await failure(s.wait({ text: "never", timeout: 1 }), TimeoutError);
  } finally {
    Error.stackTraceLimit = limit;
  }
});
