// Golden screens: where tests keep them, and when they are written. The rule is that of every SDK
// and of Go's tuitest; docs/goldens.md tells it, sdk/goldens.json holds all of them against it.
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { PtywrightError } from "./errors.js";
import { all, any, exited, re2, regex, screen, stable } from "./matchers.js";
import {
  GoldenRefusedError,
  InvalidGoldenError,
  InvalidMatcherError,
  SessionEndedError,
  TimeoutError,
} from "./reasons.js";
import type { CallOptions } from "./connection.js";
import type { Session } from "./session.js";

/** A screen is not as its golden file has it, or the file is missing, or cannot be read. */
export class GoldenError extends PtywrightError {}

/** Which golden files are written. */
export type Update = "none" | "missing" | "changed" | "all";

/** What `expectScreen` compares. */
export interface ScreenOptions extends CallOptions {
  /** What differs from run to run: names, and what is covered, RE2 as a string or a RegExp (its
   * first group, if it has one). One that covers nothing fails. */
  mask?: Readonly<Record<string, string | RegExp>> | undefined;
  /** The same as a file has it: `clock /[0-9:]+/ in row 1`, `logo rect 0,0 3x20`. */
  masks?: readonly string[] | undefined;
  /** Only a rectangle: row, column, rows and columns, from 0. */
  region?: readonly [row: number, col: number, rows: number, cols: number] | undefined;
  /** Of a file that is new: neither styles nor cursor, title and modes. */
  textOnly?: boolean | undefined;
  /** How long to wait, in milliseconds. Unless given, a screen that differs fails once it has not
   * changed for 5 seconds, or after 30. */
  timeout?: number | undefined;
}

/** The variable that says which files are written. */
export const VARIABLE = "PTYWRIGHT_UPDATE";

/** For how long, in milliseconds, a screen has to be unchanged before it is written down: longer
 * than programs pause between two parts of a frame. */
const SETTLE = 250;

/** For how long, in milliseconds, a screen that differs has to be unchanged, after the program has
 * reacted to the last input, until a comparison that was given no time is over. Most programs that
 * think longer show it. */
const QUIET = 5000;

/** Where a test keeps a golden screen. What a file's name may not have on some system becomes a
 * hyphen. */
export function pathOf(folder: string, test: string, name: string): string {
  const parts = (test ? `${test}/${name}` : name)
    .split("/")
    // eslint-disable-next-line no-control-regex
    .map((part) => part.replace(/[\u0000-\u001f<>:"\\|?*]/g, "-"))
    .map((part) => (/^\.*$/.test(part) ? `-${part}` : part));
  return `${join(folder, ...parts)}.screen`;
}

/** Which files are written, by the environment. */
export function updateFrom(env: Readonly<Record<string, string | undefined>>): Update {
  const said = env[VARIABLE] || "";
  switch (said) {
    case "none":
    case "missing":
    case "changed":
    case "all":
      return said;
    case "":
      return env["CI"] ? "none" : "missing";
    default:
      throw new GoldenError(
        `${VARIABLE}=${JSON.stringify(said.slice(0, 32))}: have none, missing, changed and all`,
      );
  }
}

/** What a test does with a file. */
export function stepOf(update: Update, exists: boolean): "fail" | "write" | "compare" {
  if (update === "changed" || update === "all") return "write";
  if (exists) return "compare";
  return update === "none" ? "fail" : "write";
}

/** Where the golden screens of a test are. */
export class Screens {
  readonly #folder: string;
  readonly #test: string;
  readonly #update: Update | undefined;

  /**
   * @param folder - has a folder for each `/` in `test`, and in it NAME.screen
   * @param update - which files are written; unless given, PTYWRIGHT_UPDATE says so, and by default
   *   those that are missing, in CI none
   */
  constructor(folder: string, test = "", update?: Update) {
    this.#folder = folder;
    this.#test = test;
    this.#update = update;
  }

  /** Those of a test in a file: beside it, in `__screens__`. */
  static beside(file: string | undefined, names: readonly string[]): Screens {
    const flag = [...process.execArgv, ...process.argv].includes("--test-update-snapshots");
    const update = flag ? "changed" : undefined;
    if (file === undefined) return new Screens("__screens__", names.join("/"), update);
    const test = [basename(file, extname(file)), ...names].join("/");
    return new Screens(join(dirname(file), "__screens__"), test, update);
  }

  /** The file of a golden screen. */
  path(name: string): string {
    return pathOf(this.#folder, this.#test, name);
  }

  /** Which files are written. */
  get update(): Update {
    return this.#update ?? updateFrom(process.env);
  }
}

const known = new WeakMap<Session, Screens>();

/** Says where the golden screens of a session's test are. `tui` does so. */
export function keepScreens(session: Session, screens: Screens): void {
  known.set(session, screens);
}

/**
 * Waits until the screen equals the golden screen of that name, with its colours, cursor, title and
 * modes. A file that does not exist is written, but not where CI is set: see docs/goldens.md.
 * Rejects with GoldenError.
 */
export async function expectScreen(
  session: Session,
  name: string,
  options: ScreenOptions = {},
): Promise<void> {
  const screens = known.get(session) ?? Screens.beside(undefined, []);
  const file = screens.path(name);
  try {
    const { update } = screens;
    const old = read(file);
    switch (stepOf(update, old !== undefined)) {
      case "compare":
        await compare(session, file, old ?? "", options);
        break;
      case "write":
        await write(session, file, old, options, update === "all");
        break;
      default:
        throw new GoldenError(
          `${file} does not exist, and CI writes none: run the test without CI set, and commit ` +
            `what it writes\n${(await session.screen()).text}`,
        );
    }
  } catch (error) {
    const of = error instanceof InvalidGoldenError || error instanceof InvalidMatcherError;
    if (of || error instanceof GoldenRefusedError || error instanceof GoldenError) {
      throw new GoldenError(`expect screen ${name}: ${of ? `${file}: ` : ""}${error.message}`);
    }
    throw error;
  }
}

/** Masks and a region as the wire has them. */
function wanted(o: ScreenOptions): { masks?: string[]; region?: string } {
  const masks = Object.entries(o.mask ?? {}).map(([name, pattern]) => {
    const source = re2(pattern).replace(/\\.|\//gs, (m) => (m === "/" ? "\\/" : m));
    return `${name} /${source}/`;
  });
  masks.push(...(o.masks ?? []));
  const [row, col, rows, cols] = o.region ?? [];
  return {
    ...(masks.length > 0 ? { masks } : {}),
    ...(row === undefined ? {} : { region: `${row},${col} ${rows}x${cols}` }),
  };
}

async function write(
  session: Session,
  file: string,
  old: string | undefined,
  options: ScreenOptions,
  always: boolean,
): Promise<void> {
  const { timeout, signal } = options;
  // Before any input a blank screen is one that is not drawn yet.
  const shown = session.typed ? stable(SETTLE) : all(any(regex(/\S/), exited()), stable(SETTLE));
  const still = await session.expect(shown, { timeout, signal });
  const made = await session.call(
    "session.golden",
    { ...wanted(options), text_only: options.textOnly, previous: old, at: still.screen.sequence },
    { signal },
  );
  if (always || !made.same) save(file, made.screen);
  drop(file);
}

async function compare(
  session: Session,
  file: string,
  old: string,
  options: ScreenOptions,
): Promise<void> {
  const { timeout, signal } = options;
  try {
    const { masks, region } = wanted(options);
    const quiet = timeout === undefined ? QUIET : undefined; // who says how long means it
    await session.wait(screen(old, { masks, region, quiet }), { timeout, signal });
  } catch (error) {
    if (!(error instanceof TimeoutError) && !(error instanceof SessionEndedError)) throw error;
    const told = error.evidence?.matcher as { why?: string; diff?: string } | undefined;
    const why = [told?.why, told?.diff].filter(Boolean).join("\n").trimEnd();
    const left = inCI() ? "" : await leave(session, file, old, options);
    throw new GoldenError(`${error.message.split("\n")[0]}: ${file} differs: ${why}${left}`);
  }
  if (!inCI()) drop(file); // what was to be reviewed is out of date
}

/** Leaves the last screen for a review, and says so; nothing when it cannot be written down. */
async function leave(
  session: Session,
  file: string,
  old: string,
  options: ScreenOptions,
): Promise<string> {
  try {
    const seen = await session.call(
      "session.golden",
      { ...wanted(options), previous: old },
      { signal: options.signal },
    );
    save(pending(file), seen.screen);
  } catch (error) {
    if (error instanceof PtywrightError) return "";
    throw error;
  }
  return (
    `\nThe last screen is in ${pending(file)}. If it is right, run the test with ` +
    `${VARIABLE}=changed.`
  );
}

const inCI = (): boolean => Boolean(process.env["CI"]);

/** What could replace a file, for a review. */
const pending = (file: string): string => `${file}.new`;

/** The text of a golden file; undefined when there is none. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes a file, with the folders above it: readers see the old one or the new one. */
function save(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = join(dirname(file), `.screen-${process.pid}-${++saved}`);
  try {
    writeFileSync(temporary, text, { flag: "wx" });
    chmodSync(temporary, 0o644);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

let saved = 0;

/** Removes what was left for a review. */
function drop(file: string): void {
  rmSync(pending(file), { force: true });
}
