import type { Locator, Matcher as WireMatcher } from "./wire.js";

/**
 * A condition to wait for, as a value. Make one with {@link text}, {@link regex} and so on, compose
 * it with {@link Matcher.and}, {@link Matcher.or} and {@link Matcher.not}, or with {@link all},
 * {@link any} and {@link not}. It does not change and may be used any number of times.
 */
export class Matcher {
  /** The matcher of the wire. */
  readonly wire: WireMatcher;

  constructor(wire: WireMatcher) {
    this.wire = wire;
  }

  /** Holds when this and all of `others` hold. */
  and(...others: Matcher[]): Matcher {
    return all(this, ...others);
  }

  /** Holds when this or one of `others` holds. */
  or(...others: Matcher[]): Matcher {
    return any(this, ...others);
  }

  /** Holds when this does not. Text is then looked for on the screen as it is. */
  not(): Matcher {
    return not(this);
  }

  toJSON(): WireMatcher {
    return this.wire;
  }
}

/** What to wait for, as keywords. Of several, all must hold. */
export interface Conditions {
  /** The text is there. */
  text?: string | undefined;
  /** The expression is found: RE2 as a string, or a RegExp; see {@link regex}. */
  regex?: string | RegExp | undefined;
  /** The screen has not changed for so many milliseconds. */
  stable?: number | undefined;
  /** The program has ended, and its last byte has been read. */
  exited?: true | undefined;
  /** The window title contains this, or the expression is found in it. */
  title?: string | RegExp | undefined;
  /** The cursor is in this row and column, from 0. */
  cursor?: readonly [row: number, col: number] | undefined;
  /** The bell rang. */
  bell?: true | undefined;
  /** The program has written this, whatever became of it on the screen. */
  output?: string | RegExp | undefined;
}

/** What `wait` and `expect` take in place of {@link Conditions}: a string is a text. */
export type Until = Matcher | string | RegExp;

const make = (wire: WireMatcher) => new Matcher(wire);

/** Holds when the text is on the screen; for `wait` also when it has scrolled off since. */
export const text = (value: string): Matcher => make({ type: "contains_text", value });

/**
 * Holds when the expression is found where {@link text} looks. The server's expressions are RE2:
 * a RegExp is translated, its flags `i`, `m` and `s` included; what RE2 lacks (lookaround,
 * backreferences, the flags `y` and `v`) is refused. `$` is the screen's end, with `m` a line's.
 * Rows are cut at their last non-blank, so a prompt `$ ` is matched by `/\$$/`.
 *
 * @throws TypeError for the flags `y` and `v`
 */
export const regex = (pattern: string | RegExp): Matcher =>
  make({ type: "screen_regex", value: re2(pattern) });

/** Holds when the program has written the text, or what the expression finds, escape sequences and
 * all: what {@link Session.transcript} returns. */
export const output = (value: string | RegExp): Matcher =>
  typeof value === "string"
    ? make({ type: "transcript_contains", value })
    : make({ type: "transcript_regex", value: re2(value) });

/** Holds when the window title contains the text, or the expression is found in it. */
export const title = (value: string | RegExp): Matcher =>
  typeof value === "string"
    ? make({ type: "title_contains", value })
    : make({ type: "title_regex", value: re2(value) });

/** Holds when the screen has not changed for so many milliseconds. */
export const stable = (ms: number): Matcher =>
  make({ type: "screen_stable", value: { min_ms: milliseconds("stable", ms) } });

/** Holds when the screen equals a golden screen, the text of a file as `session.golden` of the wire
 * writes it. Masks and a region, as a file has them, count beside and in place of its own. With
 * `quiet` the wait also ends, as timed out, once the screen differs and has not changed for so many
 * milliseconds. */
export const screen = (
  golden: string,
  more: {
    masks?: readonly string[] | undefined;
    region?: string | undefined;
    quiet?: number | undefined;
  } = {},
): Matcher =>
  make({
    type: "screen",
    value: {
      screen: golden,
      ...(more.masks ? { masks: [...more.masks] } : {}),
      ...(more.region === undefined ? {} : { region: more.region }),
      ...(more.quiet === undefined ? {} : { quiet_ms: milliseconds("quiet", more.quiet) }),
    },
  });

/** Holds when the program has ended, and its last byte has been read. */
export const exited = (): Matcher => make({ type: "process_exited" });

/** Holds while the session's adapter says one of these states of its program, such as `blocked`.
 * After an input, or with `since`, a state counts once something has come after it. */
export const inState = (...states: string[]): Matcher => make({ type: "state", value: states });

/** Holds when the bell rings. */
export const bell = (): Matcher => make({ type: "bell" });

/** Holds when the cursor is in this row and column, from 0. */
export const cursor = (row: number, col: number): Matcher =>
  make({ type: "cursor_at", value: { row, col } });

/** Holds when a command ends, in a shell with `shellIntegration`; with `exitCode`, when one ends
 * with that code. */
export const finished = (exitCode?: number): Matcher =>
  make({
    type: "command_finished",
    ...(exitCode === undefined ? {} : { value: { exit_code: exitCode } }),
  });

/** Holds when a locator, such as `"'Commit' in box 'Menu'"`, means at least one place of the screen,
 * or exactly `count`. */
export const located = (locator: Locator, count?: number): Matcher =>
  make({ type: "located", value: { locator, ...(count === undefined ? {} : { count }) } });

/** Holds when a predicate of a plugin says so. */
export const lua = (plugin: string, predicate: string, params?: unknown): Matcher =>
  make({ type: "lua", value: { plugin, predicate, ...(params === undefined ? {} : { params }) } });

/** Holds when all of them hold. */
export const all = (...matchers: Matcher[]): Matcher =>
  make({ type: "all", value: matchers.map((m) => m.wire) });

/** Holds when one of them holds. */
export const any = (...matchers: Matcher[]): Matcher =>
  make({ type: "any", value: matchers.map((m) => m.wire) });

/** Holds when the matcher does not. Text is then looked for on the screen as it is. */
export const not = (matcher: Matcher): Matcher => make({ type: "not", value: matcher.wire });

/** The matcher of what `wait` and `expect` were given. */
export function matcherOf(until: Until | Conditions): Matcher {
  if (until instanceof Matcher) return until;
  if (typeof until === "string") return text(until);
  if (until instanceof RegExp) return regex(until);
  const parts: Matcher[] = [];
  const { cursor: at } = until;
  if (until.text !== undefined) parts.push(text(until.text));
  if (until.regex !== undefined) parts.push(regex(until.regex));
  if (until.output !== undefined) parts.push(output(until.output));
  if (until.title !== undefined) parts.push(title(until.title));
  if (at !== undefined) parts.push(cursor(at[0], at[1]));
  if (until.bell) parts.push(bell());
  if (until.exited) parts.push(exited());
  if (until.stable !== undefined) parts.push(stable(until.stable));
  const [first] = parts;
  if (first === undefined) {
    throw new TypeError(
      "say what to wait for: text, regex, output, title, cursor, bell, exited or stable",
    );
  }
  return parts.length === 1 ? first : all(...parts);
}

/**
 * The same matcher for a state: it reads the screen as it is and not what has scrolled off it.
 *
 * @throws TypeError for an event, such as the bell
 */
export function onScreen(m: WireMatcher): WireMatcher {
  switch (m.type) {
    case "contains_text":
    case "screen_regex":
      return { ...m, scope: "screen" };
    case "any":
    case "all":
      return { ...m, value: m.value.map(onScreen) };
    case "not":
      return { ...m, value: onScreen(m.value) };
    case "bell":
    case "command_finished":
      throw new TypeError(`${m.type} is an event, and expect looks at a state: use wait`);
    default:
      return m;
  }
}

/** A RegExp as RE2. */
export function re2(pattern: string | RegExp): string {
  if (typeof pattern === "string") return pattern;
  const refused = /[yv]/.exec(pattern.flags);
  if (refused) throw new TypeError(`the flag ${refused[0]} of ${pattern} has no meaning here`);
  const flags = ["i", "m", "s"].filter((f) => pattern.flags.includes(f)).join("");
  const source = pattern.source.replace(
    /\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|c([A-Za-z])|([\s\S]))/g,
    (whole, braces?: string, four?: string, control?: string) => {
      if (control) return `\\x{${(control.charCodeAt(0) % 32).toString(16)}}`;
      const digits = pattern.unicode ? (braces ?? four) : four;
      return digits === undefined ? whole : `\\x{${digits}}`;
    },
  );
  return flags ? `(?${flags})${source}` : source;
}

/** A day: the longest that the server waits. */
const DAY = 86_400_000;

/**
 * A time for the wire: whole milliseconds, rounded up; Infinity is a day, the server's most.
 *
 * @throws RangeError when it is negative or not a number
 */
export function milliseconds(name: string, ms: number): number {
  if (!(ms >= 0)) throw new RangeError(`${name} is ${ms}: give milliseconds, 0 or more`);
  return Math.min(Math.ceil(ms), DAY);
}
