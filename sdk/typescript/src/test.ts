/**
 * Helpers for tests: {@link tui} starts a program that ends with its test and keeps what is needed
 * to see why a test failed; {@link expect} asserts what a session shows. For vitest see
 * `@ptywright/sdk/vitest`.
 *
 * ```ts
 * import test from "node:test";
 * import { expect, tui } from "@ptywright/sdk/test";
 *
 * test("adds", async (t) => {
 *   const s = await tui(t, "python3", ["-q"]);
 *   await expect(s).toShow(">>>");
 *   await s.send("6*7\n");
 *   await s.wait({ regex: /^42$/m });
 * });
 * ```
 *
 * @packageDocumentation
 */
import "./dispose.js";
import { mkdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { spawn, type SpawnOptions } from "./client.js";
import { isOver } from "./connection.js";
import { PtywrightError } from "./errors.js";
import { SessionEndedError } from "./reasons.js";
import { exited, matcherOf, type Conditions, type Until } from "./matchers.js";
import type { ExpectOptions, Match, Recording, Session } from "./session.js";
import { expectScreen, keepScreens, Screens, type ScreenOptions } from "./screens.js";

export { expectScreen, GoldenError, keepScreens, Screens } from "./screens.js";
export type { ScreenOptions, Update } from "./screens.js";

/** What {@link expect} asserts. */
export interface Expectation {
  /** Waits until the session shows it: the text, what the expression finds, or the state. Rejects
   * with TimeoutError and its evidence. */
  toShow(until: Conditions & ExpectOptions): Promise<Match>;
  toShow(until: Until, options?: ExpectOptions): Promise<Match>;
  /** Waits until the program has ended, with that exit code if one is given. */
  toHaveExited(code?: number, options?: ExpectOptions): Promise<void>;
  /** Waits until the screen equals the golden screen of that name: see {@link expectScreen}. */
  toMatchScreen(name: string, options?: ScreenOptions): Promise<void>;
  /** The opposite. */
  not: {
    /** Waits until the session does not show it. */
    toShow(until: Conditions & ExpectOptions): Promise<Match>;
    toShow(until: Until, options?: ExpectOptions): Promise<Match>;
  };
}

/** Asserts what a session shows, with as much patience as it takes: 30 seconds unless told. */
export function expect(session: Session): Expectation {
  return {
    toShow: (until: Until | (Conditions & ExpectOptions), options?: ExpectOptions) =>
      options === undefined ? session.expect(until as Conditions) : session.expect(until as Until, options),
    toHaveExited: async (code, options) => {
      const exit = (await session.expect(exited(), options)).screen.exit;
      if (code !== undefined && exit?.code !== code) {
        const how = exit?.signal ?? `exit code ${exit?.code}`;
        throw new PtywrightError(`expected exit code ${code}, and the program ended with ${how}`);
      }
    },
    toMatchScreen: (name, options) => expectScreen(session, name, options),
    not: {
      toShow: (until: Until | (Conditions & ExpectOptions), options?: ExpectOptions) =>
        session.expect(matcherOf(until).not(), options ?? plain(until)),
    },
  };
}

/** The options among conditions. */
const plain = (until: Until | (Conditions & ExpectOptions)): ExpectOptions =>
  typeof until === "object" && !("wire" in until) && !(until instanceof RegExp) ? until : {};

interface Verdict {
  pass: boolean;
  message: () => string;
}

/** {@link expect}'s assertions in the form that `expect.extend` of vitest and jest takes. */
export const matchers = {
  toShow(
    this: { isNot?: boolean },
    session: Session,
    until: Until | (Conditions & ExpectOptions),
    options?: ExpectOptions,
  ): Promise<Verdict> {
    const { isNot = false } = this;
    const to = isNot ? expect(session).not : expect(session);
    return verdict(isNot, to.toShow(until as Until, options));
  },
  toHaveExited(
    this: { isNot?: boolean },
    session: Session,
    code?: number,
    options?: ExpectOptions,
  ): Promise<Verdict> {
    if (this.isNot) throw new TypeError("not.toHaveExited: use expect(await s.exit()).toBeNull()");
    return verdict(false, expect(session).toHaveExited(code, options));
  },
  toMatchScreen(
    this: { isNot?: boolean },
    session: Session,
    name: string,
    options?: ScreenOptions,
  ): Promise<Verdict> {
    if (this.isNot) throw new TypeError("not.toMatchScreen: a golden screen is what is expected");
    return verdict(false, expectScreen(session, name, options));
  },
};

async function verdict(isNot: boolean, asserted: Promise<unknown>): Promise<Verdict> {
  try {
    await asserted;
    return { pass: !isNot, message: () => "" };
  } catch (error) {
    if (!(error instanceof PtywrightError)) throw error;
    return { pass: isNot, message: () => error.message };
  }
}

/** What {@link tui} needs of a test: the context of node:test is one. */
export interface TestContext {
  readonly name: string;
  readonly fullName?: string | undefined;
  readonly filePath?: string | undefined;
  readonly error?: unknown;
  after(hook: () => Promise<void>): void;
  diagnostic?(message: string): void;
}

const kept = new WeakMap<object, Kept>();

/**
 * Starts a program for a test of node:test. When the test ends the session is closed. When it
 * failed, `test-results/<test>/` (or below `$PTYWRIGHT_ARTIFACTS`) has, for each session, a
 * recording (`.cast`), a picture of the last screen (`.png`), and the evidence (`.txt`). Knowing
 * that a test has failed needs Node 20.12 or newer.
 */
export function tui(t: TestContext, program: string, options?: SpawnOptions): Promise<Session>;
export function tui(
  t: TestContext,
  program: string,
  args: readonly string[],
  options?: SpawnOptions,
): Promise<Session>;
export function tui(
  t: TestContext,
  program: string,
  args: readonly string[] | SpawnOptions = [],
  options: SpawnOptions = {},
): Promise<Session> {
  let k = kept.get(t);
  if (k === undefined) {
    const name = t.fullName ?? t.name;
    const file = t.filePath ?? process.argv[1];
    const made = (k = new Kept(name, Screens.beside(file, name.split(" > "))));
    kept.set(t, made);
    t.after(async () => {
      const where = await made.end(t.error ?? undefined);
      if (where !== undefined) t.diagnostic?.(`kept for you to look at: ${where}`);
    });
  }
  return k.spawn(program, args, options);
}

interface KeptSession {
  session: Session;
  file: string; // without an extension
  recording?: Recording;
}

/** The sessions of one test, and what is kept of them when it fails. */
export class Kept {
  readonly #dir: string;
  readonly #screens: Screens | undefined;
  readonly #sessions: KeptSession[] = [];
  #count = 0;

  /**
   * @param test - the name of the test, which becomes that of the folder
   * @param screens - where its golden screens are
   */
  constructor(test: string, screens?: Screens) {
    this.#screens = screens;
    const root = process.env["PTYWRIGHT_ARTIFACTS"] || "test-results";
    const name = test.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
    this.#dir = resolve(root, name.slice(0, 100) || "test");
  }

  /** Starts a program, and records it. */
  async spawn(
    program: string,
    args: readonly string[] | SpawnOptions,
    options: SpawnOptions,
  ): Promise<Session> {
    const first = ++this.#count === 1;
    const file = join(this.#dir, `session-${this.#count}`);
    const session = Array.isArray(args)
      ? await spawn(program, args as readonly string[], options)
      : await spawn(program, args as SpawnOptions);
    if (this.#screens) keepScreens(session, this.#screens);
    if (first) rmSync(this.#dir, { recursive: true, force: true });
    mkdirSync(this.#dir, { recursive: true });
    const kept: KeptSession = { session, file };
    this.#sessions.push(kept);
    try {
      kept.recording = await session.record(`${file}.cast`);
    } catch (error) {
      if (!(error instanceof SessionEndedError)) throw error; // it was too short to be recorded
    }
    return session;
  }

  /** Ends the sessions. Returns the folder with what was kept; undefined when `failure` is. */
  async end(failure: unknown): Promise<string | undefined> {
    for (const { session, file, recording } of this.#sessions) {
      try {
        if (failure !== undefined) {
          await session.call("session.screenshot", { path: `${file}.png` });
          writeFileSync(`${file}.txt`, `${reason(failure)}\n\n${(await session.screen()).text}\n`);
        }
        await recording?.stop();
      } catch (error) {
        if (!isOver(error)) throw error;
      } finally {
        await session.close();
      }
      if (failure === undefined) rmSync(`${file}.cast`, { force: true });
    }
    if (failure !== undefined) return this.#dir;
    for (const dir of [this.#dir, dirname(this.#dir)]) {
      try {
        rmdirSync(dir);
      } catch {
        break; // another test has something in it
      }
    }
    return undefined;
  }
}

/** What failed: node:test wraps it. */
function reason(failure: unknown): string {
  const cause = (failure as { cause?: unknown }).cause;
  const error = cause ?? failure;
  return error instanceof Error ? error.message : String((error as Error).message ?? error);
}
