/**
 * For vitest: a `tui` fixture and `expect(session).toShow(...)`.
 *
 * ```ts
 * import { expect } from "vitest";
 * import { test } from "@ptywright/sdk/vitest";
 *
 * test("adds", async ({ tui }) => {
 *   const s = await tui("python3", ["-q"]);
 *   await expect(s).toShow(">>>");
 * });
 * ```
 *
 * @packageDocumentation
 */
import { expect, onTestFinished, test as base, type TestAPI } from "vitest";
import type { SpawnOptions } from "./client.js";
import type { Conditions, Until } from "./matchers.js";
import type { ExpectOptions, Session } from "./session.js";
import { Kept, matchers } from "./test.js";
import { Screens, type ScreenOptions } from "./screens.js";

expect.extend(matchers);

interface SessionMatchers {
  /** Waits until the session shows it; with `not`, until it does not. */
  toShow(until: Until | (Conditions & ExpectOptions), options?: ExpectOptions): Promise<void>;
  /** Waits until the program has ended, with that exit code if one is given. */
  toHaveExited(code?: number, options?: ExpectOptions): Promise<void>;
  /** Waits until the screen equals the golden screen of that name, which is kept beside the test in
   * `__screens__`: see `expectScreen` of `@ptywright/sdk/test`. */
  toMatchScreen(name: string, options?: ScreenOptions): Promise<void>;
}

declare module "vitest" {
  // eslint-disable-next-line
  interface Matchers<T = any> extends SessionMatchers {}
}

/** Starts a program that ends with its test; see {@link tui} of `@ptywright/sdk/test`. */
export interface Tui {
  (program: string, options?: SpawnOptions): Promise<Session>;
  (program: string, args: readonly string[], options?: SpawnOptions): Promise<Session>;
}

/** vitest's `test` with the fixture `tui`. When a test fails, the message says where what was kept
 * of its sessions is. */
export const test: TestAPI<{ tui: Tui }> = base.extend<{ tui: Tui }>({
  tui: async ({ task }, use) => {
    const names = [task.suite?.name, task.name].filter((n): n is string => Boolean(n));
    const screens = Screens.beside(task.file.filepath, names);
    const kept = new Kept(names.join(" "), screens);
    onTestFinished(async () => {
      const failure = task.result?.errors?.[0];
      const where = await kept.end(failure);
      if (where !== undefined) console.error(`${task.name}: kept for you to look at: ${where}`);
    });
    await use(
      (program: string, args: readonly string[] | SpawnOptions = [], options: SpawnOptions = {}) =>
        kept.spawn(program, args, options),
    );
  },
});
