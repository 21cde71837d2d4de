// A program that gives its terminal to a session: what a person sees and types is the inner one's.
import { spawn } from "@ptywright/sdk";

const how = process.argv[2];
await using inner = await spawn("sh", { env: { PS1: "inner$ " } });
await inner.expect({ regex: /inner\$$/ });
try {
  const stop = how === "abort" ? AbortSignal.timeout(500) : undefined;
  const exit = await inner.interact({ signal: stop });
  console.log(`back: ${JSON.stringify(exit)}`);
} catch (error) {
  console.log(`${(error as Error).name}`);
}
const { rows, cols } = await inner.screen();
console.log(`size ${rows}x${cols}`);
process.stdin.resume().once("data", (line) => {
  console.log(`outer got ${String(line).trim()}`);
  process.exit(0);
});
