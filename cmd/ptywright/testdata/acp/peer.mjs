// An agent and an editor, written with the npm package of the Agent Client Protocol.
//
//   node peer.mjs direct PTYWRIGHT   an agent that uses the terminals of "PTYWRIGHT acp"
//   node peer.mjs editor PTYWRIGHT   an editor that starts "PTYWRIGHT acp-proxy -- node peer.mjs agent"
//   node peer.mjs agent              the agent behind it
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [role, ptywright] = process.argv.slice(2);

// run uses all five methods, and cancels a wait.
async function run(peer, sessionId, cancels) {
  const request = (method, params, options) => peer.request(method, { sessionId, ...params }, options);
  const t = await request("terminal/create", { command: "sh", args: ["-c", "printf 'äöü\\n'; exit 5"], env: [], outputByteLimit: 5 });
  const [a, b] = await Promise.all([1, 2].map(() => request("terminal/wait_for_exit", { terminalId: t.terminalId })));
  assert.deepEqual([a.exitCode, b.exitCode, a.signal ?? null], [5, 5, null]);
  const out = await request("terminal/output", { terminalId: t.terminalId });
  assert.equal(out.output, "öü\n");
  assert.equal(out.truncated, true);
  assert.equal(out.exitStatus.exitCode, 5);
  await request("terminal/release", { terminalId: t.terminalId });
  await assert.rejects(request("terminal/output", { terminalId: t.terminalId }), (e) => e.code === -32002);

  const long = await request("terminal/create", { command: "sleep", args: ["300"] });
  if (cancels) {
    const abort = new AbortController();
    const wait = request("terminal/wait_for_exit", { terminalId: long.terminalId }, { cancellationSignal: abort.signal });
    abort.abort();
    await assert.rejects(wait, (e) => e.code === -32800);
  }
  const waited = request("terminal/wait_for_exit", { terminalId: long.terminalId });
  await request("terminal/kill", { terminalId: long.terminalId });
  assert.equal((await waited).signal, "SIGTERM");
  await request("terminal/release", { terminalId: long.terminalId });
}

function child(...args) {
  const p = spawn(ptywright, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((resolve) => p.on("exit", resolve));
  return { p, exited, stream: acp.ndJsonStream(Writable.toWeb(p.stdin), Readable.toWeb(p.stdout)) };
}

if (role === "direct") {
  const { p, exited, stream } = child("acp");
  await acp.agent({ name: "direct" }).connectWith(stream, (client) => run(client, "S1", true));
  p.stdin.end();
  assert.equal(await exited, 0);
  console.log("direct: ok");
} else if (role === "agent") {
  let terminals = false;
  const agent = acp
    .agent({ name: "scripted" })
    .onRequest(acp.methods.agent.initialize, ({ params }) => {
      terminals = params.clientCapabilities?.terminal === true;
      return { protocolVersion: 1, agentCapabilities: {} };
    })
    .onRequest(acp.methods.agent.session.new, () => ({ sessionId: "S1" }))
    .onRequest(acp.methods.agent.session.prompt, async ({ params, client }) => {
      assert.equal(terminals, true);
      await run(client, params.sessionId, true);
      const t = await client.createTerminal({ sessionId: params.sessionId, command: "echo shown to the editor" });
      await client.notify(acp.methods.client.session.update, {
        sessionId: params.sessionId,
        update: { sessionUpdate: "tool_call", toolCallId: "c1", title: "Run", content: [{ type: "terminal", terminalId: t.id }] },
      });
      await t.waitForExit();
      await t.release();
      return { stopReason: "end_turn" };
    });
  agent.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
} else if (role === "editor") {
  const { p, exited, stream } = child("acp-proxy", "--", process.execPath, process.argv[1], "agent");
  let shown = "";
  const editor = acp.client({ name: "editor" }).onNotification(acp.methods.client.session.update, ({ params }) => {
    shown += JSON.stringify(params.update) + "\n";
  });
  await editor.connectWith(stream, async (agent) => {
    await agent.request(acp.methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await agent.request(acp.methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] });
    const { stopReason } = await agent.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: "go" }] });
    assert.equal(stopReason, "end_turn");
    assert.match(shown, /"text":"```\\nshown to the editor\\n```"/);
    assert.doesNotMatch(shown, /terminalId/);
  });
  p.stdin.end();
  assert.equal(await exited, 0);
  console.log("editor: ok");
}
