// What a turn of this package costs beside the bare wire in the same language: the same messages
// over the same pipe, written by hand. Both take turns, so that a machine that slows down slows
// both. Run it with TURNS=4000.
import { spawn as run } from "node:child_process";
import { createInterface } from "node:readline";
import { start } from "@ptywright/sdk";

const TURNS = Number(process.env["TURNS"] ?? 1000);
const BLOCK = Math.max(10, TURNS / 40);

const child = run(process.env["PTYWRIGHT_BIN"] ?? "ptywright", ["serve", "--stdio"], {
  stdio: ["pipe", "pipe", "inherit"],
  detached: process.platform !== "win32", // as the SDK's, so that the scheduler treats both alike
});
const waiting = new Map<number, (result: never) => void>();
let last = 0;
createInterface({ input: child.stdout }).on("line", (line) => {
  const { id, result, error } = JSON.parse(line) as { id: number; result: never; error: unknown };
  if (error) throw new Error(line);
  waiting.get(id)?.(result);
  waiting.delete(id);
});
function call<R>(method: string, params: object): Promise<R> {
  return new Promise((resolve) => {
    const id = ++last;
    waiting.set(id, resolve as (result: never) => void);
    child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  });
}

const client = await start();
const s = await client.spawn("cat");
const { session } = await call<{ session: string }>("session.create", { program: "cat" });

const jobs: Record<string, { bare: (i: number) => Promise<unknown>; sdk: (i: number) => Promise<unknown> }> = {
  turn: {
    bare: async (i) => {
      const action = { type: "text", value: `b${i}\n` };
      const { sequence } = await call<{ sequence: number }>("session.input", { session, action });
      const matcher = { type: "contains_text", value: `b${i}` };
      await call("session.wait", { session, matcher, since: sequence, timeout_ms: 30_000 });
    },
    sdk: async (i) => {
      await s.send(`b${i}\n`);
      await s.wait({ text: `b${i}` });
    },
  },
  screen: {
    bare: () => call("session.snapshot", { session, cells: "none" }),
    sdk: () => s.screen(),
  },
  "64 screens at once": {
    bare: () => Promise.all(Array.from({ length: 64 }, () => call("session.snapshot", { session, cells: "none" }))),
    sdk: () => Promise.all(Array.from({ length: 64 }, () => s.screen())),
  },
};

console.log("| job | bare wire, us | @ptywright/sdk, us | median of the ratios |\n| --- | ---: | ---: | ---: |");
for (const [name, job] of Object.entries(jobs)) {
  const times = { bare: [] as number[], sdk: [] as number[] };
  const ratios: number[] = [];
  const turns = name.includes("64") ? TURNS / 10 : TURNS;
  const block = async (who: "bare" | "sdk", n: number) => {
    const from = performance.now();
    for (let j = 0; j < BLOCK; j++) await job[who](n * BLOCK + j);
    return ((performance.now() - from) / BLOCK) * 1000;
  };
  for (let n = 0; n * BLOCK < turns; n++) {
    // Each block of the SDK stands between two of the bare wire, and is compared with those.
    const [first, mine, last] = [await block("bare", 3 * n), await block("sdk", 3 * n + 1), await block("bare", 3 * n + 2)];
    times.bare.push(first, last);
    times.sdk.push(mine);
    ratios.push((2 * mine) / (first + last));
  }
  const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1] ?? 0;
  const [bare, sdk] = [median(times.bare), median(times.sdk)];
  console.log(`| ${name} | ${bare.toFixed(0)} | ${sdk.toFixed(0)} | ${median(ratios).toFixed(2)} |`);
}
await client.close();
child.stdin.end();
