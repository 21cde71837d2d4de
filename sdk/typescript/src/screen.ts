import type * as wire from "./wire.js";

/** How a program ended. */
export interface Exit {
  /** The exit code; null when a signal ended it. */
  readonly code: number | null;
  /** The signal's name, such as `SIGKILL`; null when none ended it. */
  readonly signal: string | null;
  /** A process that it has started still holds the terminal, and may write. */
  readonly draining: boolean;
  /** The limit that ended it: `max_ms`, `idle_ms`, `max_memory` or `owner`. */
  readonly limit: string | undefined;
  /** Somebody ended it: how it ended says nothing about the program. */
  readonly killed: boolean;
}

export function exitOf(e: wire.Exit | null): Exit | null {
  if (e === null) return null;
  return {
    code: e.exit_code,
    signal: e.signal,
    draining: e.draining,
    limit: e.limit,
    killed: e.killed ?? false,
  };
}

/** A screen as it was at one moment. It does not change; `String(snapshot)` is its text. */
export class Snapshot {
  /** What the server sent. */
  readonly wire: wire.Snapshot;

  constructor(snapshot: wire.Snapshot) {
    this.wire = snapshot;
  }

  /** The text: rows cut at their last non-blank, soft-wrapped rows joined, blank rows at the end
   * dropped. */
  get text(): string {
    return this.wire.plain_text;
  }

  /** One string for each row. */
  get lines(): readonly string[] {
    return this.wire.lines;
  }

  get rows(): number {
    return this.wire.size.rows;
  }

  get cols(): number {
    return this.wire.size.cols;
  }

  /** Where the cursor is, from 0, and whether it is shown. */
  get cursor(): wire.Cursor {
    return this.wire.cursor;
  }

  /** The window title; null when none was set. */
  get title(): string | null {
    return this.wire.title;
  }

  /** How the program ended; null while it runs. */
  get exit(): Exit | null {
    return exitOf(this.wire.exit);
  }

  /** How much had happened in the session. */
  get sequence(): number {
    return this.wire.sequence;
  }

  /** The program reads a secret: the terminal does not echo what is typed. */
  get secretInput(): boolean {
    return this.wire.secret_input;
  }

  /** The cells by rows, or with `cells: "runs"` stretches of one style; else empty. */
  get cells(): readonly wire.Cell[] {
    return this.wire.cells;
  }

  toString(): string {
    return this.text;
  }
}

/** What a wait found. */
export class Match {
  /** What the server sent. */
  readonly wire: wire.Matched;
  /** The screen when it matched. */
  readonly screen: Snapshot;

  constructor(matched: wire.Matched) {
    this.wire = matched;
    this.screen = new Snapshot(matched.snapshot);
  }

  /** The text that was found: of an expression group 1, else all that it matched; `""` when what
   * matched is not text. */
  get text(): string {
    const o = this.#leaf;
    if (o === undefined) return "";
    return "capture" in o ? String(o.capture) : "text" in o ? o.text : "";
  }

  /** The groups of the expression in order, null for one that took no part. */
  get groups(): readonly (string | null)[] {
    const o = this.#leaf;
    return (o && "groups" in o && o.groups) || [];
  }

  /** The named groups of the expression that took part. */
  get named(): Readonly<Record<string, string>> {
    const o = this.#leaf;
    return (o && "named" in o && o.named) || {};
  }

  /** Of {@link any}: which of the matchers held, from 0; undefined for other matchers. */
  get index(): number | undefined {
    return this.wire.outcome.kind === "any" ? this.wire.outcome.index : undefined;
  }

  /** What came before the text that matched and counted, at most its last 16 KiB. */
  get before(): string {
    return this.wire.before ?? "";
  }

  /** Just behind what matched: give it to the next wait as `since`, to go on from there. */
  get next(): string {
    return this.wire.next;
  }

  /** How much had happened in the session. */
  get sequence(): number {
    return this.wire.sequence;
  }

  /** How the program ended; null while it runs. */
  get exit(): Exit | null {
    return this.screen.exit;
  }

  /** How long it took, in milliseconds. */
  get elapsed(): number {
    return this.wire.elapsed_ms;
  }

  /** When it held, of a latched wait. */
  get heldAt(): Date | undefined {
    return this.wire.held_at === undefined ? undefined : new Date(this.wire.held_at);
  }

  /** Something was lost before it could be looked at: lines that scrolled off the screen, or of a
   * latched wait a moment. */
  get missed(): boolean {
    return this.wire.missed ?? false;
  }

  /** What matched, by kind. */
  get outcome(): wire.Outcome {
    return this.wire.outcome;
  }

  get #leaf(): wire.Outcome | undefined {
    return textual(this.wire.outcome);
  }
}

/** The first part of an outcome that is about a text. */
function textual(o: wire.Outcome): wire.Outcome | undefined {
  if (o.kind === "any") return textual(o.matched);
  if (o.kind === "all") {
    for (const part of o.matched) {
      const found = textual(part);
      if (found) return found;
    }
    return undefined;
  }
  return "text" in o || "pattern" in o ? o : undefined;
}
