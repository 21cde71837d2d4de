import test from "node:test";
import { expect, tui } from "@ptywright/sdk/test";

test("fails: with a screen", async (t) => {
  const s = await tui(t, "cat");
  await tui(t, "sh", ["-c", "echo second; read x"]);
  await s.send("shown\n");
  await s.wait("never", { timeout: 100 });
});

test("passes", async (t) => {
  const s = await tui(t, "cat");
  await s.send("shown\n");
  await expect(s).toShow("shown", { timeout: 5000 });
  await expect(s).not.toShow({ text: "never" });
  const e = await tui(t, "sh", ["-c", "exit 3"]);
  await expect(e).toHaveExited(3);
});

test("exits with another code", async (t) => {
  const s = await tui(t, "sh", ["-c", "exit 3"]);
  try {
    await expect(s).toHaveExited(4);
  } catch (error) {
    t.diagnostic(String(error)); // only one test is to fail
  }
});
