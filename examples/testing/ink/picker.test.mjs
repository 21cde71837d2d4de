import test from "node:test";
import { fileURLToPath } from "node:url";
import { expect, tui } from "@ptywright/sdk/test";

test("picks a fruit", async (t) => {
  const program = fileURLToPath(new URL("picker.mjs", import.meta.url));
  // Where CI is set Ink draws nothing but its last frame, and without colours.
  const s = await tui(t, process.execPath, [program], { env: { CI: "false", FORCE_COLOR: "1" } });
  await expect(s).toShow("Plum");
  await expect(s).toMatchScreen("start");
  await s.press("down");
  await s.wait("❯ Pear");
  await expect(s).toMatchScreen("moved");
  await s.press("enter");
  await s.wait("picked Pear");
  await expect(s).toHaveExited(0);
});
