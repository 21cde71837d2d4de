/// <reference lib="esnext.disposable" preserve="true" />
import { resolve } from "node:path";
import type { Adapter } from "./adapter.js";
import type { Client } from "./client.js";
import { isOver, type CallOptions } from "./connection.js";
import { interact, type InteractOptions } from "./interact.js";
import { matcherOf, milliseconds, onScreen, type Conditions, type Until } from "./matchers.js";
import { PtywrightError } from "./errors.js";
import { History, momentOf, Span, type HistoryOptions, type Moment } from "./past.js";
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
}

export function exitOf(e: wire.Exit | null): Exit | null {
  if (e === null) return null;
  return { code: e.exit_code, signal: e.signal, draining: e.draining, limit: e.limit };
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

/** How long to look, and what for. */
export interface ExpectOptions extends CallOptions {
  /** How long to wait, in milliseconds: 30,000 unless given, 0 to look once, at most a day. */
  timeout?: number | undefined;
  /** The cells in the match's screen: `none` unless given, `full` or `runs`. */
  cells?: "none" | "full" | "runs" | undefined;
  /** False shows secrets in what comes back. Matchers always see the text as it is. */
  redact?: boolean | undefined;
}

/** How long to wait, and from where on. */
export interface WaitOptions extends ExpectOptions {
  /** Only what came after it counts: {@link Match.next}, or a sequence. Unless given, this
   * session's last input. */
  since?: number | string | undefined;
  /** What held for a moment counts, too, also one that is over: {@link Match.heldAt} and
   * {@link Match.screen} are of that moment. */
  latched?: boolean | undefined;
}

/** How something is typed. */
export interface InputOptions extends CallOptions {
  /** A pause between two keystrokes, in milliseconds, up to 10,000. */
  delay?: number | undefined;
  /** How long a program that does not read may take, in milliseconds: 5,000 unless given. */
  timeout?: number | undefined;
  /** What to wait for: until the terminal has taken it ("sent"), or until the program has read it,
   * at most for another `timeout`. After "read" a `wait` misses no effect of it, and does not match
   * an echo that was seen to come before it was read. */
  until?: "sent" | "read" | undefined;
}

/** What a command line did in the session's shell. */
export interface RunResult {
  /** Exactly what the command wrote, without escape sequences; the last 256 KiB of it. */
  readonly output: string;
  /** The exit code; null when the shell did not tell. */
  readonly exitCode: number | null;
  /** The beginning of the output is left out. */
  readonly truncated: boolean;
  /** How long it took, in milliseconds. */
  readonly duration: number;
  /** The command has ended the shell itself: how. */
  readonly exit: Exit | null;
}

/** A recording under way. Leaving its scope (`await using`) stops it. */
export class Recording {
  readonly #session: Session;
  /** The recording's id. */
  readonly id: string;
  /** The file: `path` and `.part` until the recording stops. */
  readonly path: string;

  constructor(session: Session, id: string, path: string) {
    this.#session = session;
    this.id = id;
    this.path = path;
  }

  /** Stops it, and says what became of it. To stop it again does nothing. */
  async stop(options?: CallOptions): Promise<wire.Recording> {
    const params = { recording: this.id };
    return this.#session.client.call("session.record_stop", params, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop().catch((error: unknown) => {
      if (!isOver(error)) throw error;
    });
  }
}

/** Methods of the wire that take a session. */
type SessionMethod = {
  [M in keyof wire.Methods]: wire.Methods[M]["params"] extends { session: string } ? M : never;
}[keyof wire.Methods];

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/**
 * A program on a terminal of its own. {@link spawn} makes one. `await using` closes it at the end
 * of its scope; else call {@link Session.close}.
 *
 * Methods reject with the server's errors, each a subclass of PtywrightError, such as
 * UnknownSessionError and SessionEndedError, and with ServerGone. All take an AbortSignal.
 */
export class Session implements AsyncDisposable {
  /** The connection that this object uses. */
  readonly client: Client;
  /** The id that the server gave it. */
  readonly id: string;
  /** The adapter that drives this session; undefined when none does. */
  readonly adapter: Adapter | undefined;

  // The sequence that the last input answered: what wait() counts from. It is a promise only while
  // that input has no answer, so that a wait is mostly sent at once, on its caller's stack.
  #input: number | Promise<number> = 0;

  constructor(client: Client, id: string, adapter?: Adapter) {
    this.client = client;
    this.id = id;
    this.adapter = adapter;
  }

  /** Calls a method of the wire that takes a session; see {@link Client.call}. */
  call<M extends SessionMethod>(
    method: M,
    params: DistributiveOmit<wire.Methods[M]["params"], "session">,
    options?: CallOptions,
  ): Promise<wire.Methods[M]["result"]> {
    const all = { ...params, session: this.id } as unknown as wire.Methods[M]["params"];
    return this.client.call(method, all, options);
  }

  /** Types text. `\n` is the Enter key, which sends a carriage return; all else is typed as it is,
   * and Ctrl-J is `press("ctrl+j")`. Resolves when the terminal has taken it, and rejects with
   * InputBlockedError when the program does not read. With `until: "read"` it tells whether the
   * program has read it; null where that cannot be known: off Linux, and for a line without its
   * end. */
  async send(text: string, options?: InputOptions): Promise<boolean | null> {
    const value = text.replaceAll(/\r?\n/g, "\r");
    return (await this.#type([{ type: "text", value }], options)).read ?? null;
  }

  /** Presses keys, one after another: `press("escape", ":", "w", "enter")`, `press("ctrl+c")`.
   * Options may stand behind them: `press("enter", { until: "read" })`. What it tells is that of
   * `send`. */
  press(...keys: string[]): Promise<boolean | null>;
  press(...keysAndOptions: [...keys: string[], options: InputOptions]): Promise<boolean | null>;
  async press(...all: (string | InputOptions)[]): Promise<boolean | null> {
    const options = typeof all.at(-1) === "string" ? undefined : (all.pop() as InputOptions);
    const keys = all as string[];
    if (keys.length === 0) throw new TypeError('press which keys? For example press("enter")');
    const typed = await this.#type(
      keys.map((value) => ({ type: "key", value })),
      options,
    );
    return typed.read ?? null;
  }

  /** Pastes text as a terminal does: in brackets, and without control characters, when the program
   * asks for that. What it tells is that of `send`. */
  async paste(text: string, options?: InputOptions): Promise<boolean | null> {
    const { bracketed_paste: asks } = await this.call("session.snapshot", { cells: "none" }, options);
    const actions = [{ type: asks ? "bracketed_paste" : "paste", value: text } as const];
    return (await this.#type(actions, options)).read ?? null;
  }

  /** Clicks on a cell, from 0. Rejects with MouseNotRequestedError when the program does not ask
   * for the mouse. */
  async click(
    row: number,
    col: number,
    options: InputOptions & { button?: "left" | "middle" | "right" | undefined } = {},
  ): Promise<void> {
    const { button = "left", ...more } = options;
    const at = (action: "press" | "release"): wire.Action => ({
      type: "mouse",
      value: { row, col, button, action },
    });
    await this.#type([at("press"), at("release")], more);
  }

  /** Sends a signal to what runs in the foreground: `term`, `hup`, `quit`, `int`, `kill`, `user1`
   * or `user2`. */
  async signal(name: wire.SignalAction["value"], options?: InputOptions): Promise<void> {
    await this.#after(
      this.call("session.input", { action: { type: "signal", value: name } }, options),
    );
  }

  /**
   * Waits for something to happen: only what came after this object's last input counts, before any
   * input everything. Text counts where a person watching would have seen it: on the screen, and in
   * lines that scrolled off it.
   *
   * ```ts
   * await s.wait({ regex: /^42$/m, timeout: 1000 });
   * await s.wait(text("done").or(exited()));
   * ```
   *
   * Rejects with TimeoutError, SessionEndedError (nothing can match any more) or CancelledError,
   * each with its evidence.
   */
  wait(until: Conditions & WaitOptions): Promise<Match>;
  wait(until: Until, options?: WaitOptions): Promise<Match>;
  async wait(until: Until | (Conditions & WaitOptions), options?: WaitOptions): Promise<Match> {
    const { timeout, since, latched, cells, redact, signal } = options ?? optionsOf(until);
    const matcher = matcherOf(until).wire;
    let from = since ?? this.#input;
    if (typeof from === "object") from = await from;
    return this.#judge({ matcher, since: from, latched, cells, redact }, timeout, signal);
  }

  /**
   * Waits until the screen is in a state: it may be so already. Rejects as {@link Session.wait}
   * does.
   *
   * ```ts
   * await s.expect({ text: "Saved", stable: 200 });
   * await s.expect(not(text("loading")));
   * ```
   */
  expect(until: Conditions & ExpectOptions): Promise<Match>;
  expect(until: Until, options?: ExpectOptions): Promise<Match>;
  async expect(
    until: Until | (Conditions & ExpectOptions),
    options?: ExpectOptions,
  ): Promise<Match> {
    const { timeout, cells, redact, signal } = options ?? optionsOf(until);
    const matcher = onScreen(matcherOf(until).wire);
    return this.#judge({ matcher, cells, redact }, timeout, signal);
  }

  /** The screen now, or with `at` as it was then, with what is secret now hidden. Cells come with
   * `cells: "full"` or `"runs"` only. Rejects with MomentNotKeptError for what is no longer kept, or
   * still to come. */
  async screen(
    options: CallOptions & {
      cells?: "none" | "full" | "runs" | undefined;
      at?: Moment | undefined;
      redact?: boolean | undefined;
    } = {},
  ): Promise<Snapshot> {
    const { signal, cells = "none", redact } = options;
    const at = momentOf(options.at);
    return new Snapshot(await this.call("session.snapshot", { cells, at, redact }, { signal }));
  }

  /**
   * When a matcher held in the past, and for how long. The question is about the screen at each
   * moment, those of what a program drew and wiped at once included.
   *
   * ```ts
   * for (const span of await s.history("Overwrite?")) console.log(span.fromAt, span.ms);
   * ```
   */
  async history(until: Until | Conditions, options: HistoryOptions = {}): Promise<History> {
    const { signal, which = "all", redact } = options;
    const params = {
      matcher: matcherOf(until).wire,
      since: momentOf(options.since),
      until: momentOf(options.until),
      timeout_ms: milliseconds("timeout", options.timeout ?? 30_000),
      which,
      redact,
    };
    const found = new History();
    for (let next: string | undefined; ; ) {
      const part = await this.call("session.history", { ...params, next }, { signal });
      if (which === "last" && part.spans.length > 0) found.length = 0;
      found.push(...part.spans.map((span) => new Span(span)));
      found.keptFrom = part.kept_from;
      found.complete = part.complete;
      next = part.next;
      if (next === undefined || (which === "first" && found.length > 0)) return found;
    }
  }

  /** The newest output as it came, escape sequences included: 131,072 characters unless spawn was
   * told otherwise. */
  async transcript(
    options: CallOptions & { since?: number | string; redact?: boolean } = {},
  ): Promise<string> {
    const { signal, ...params } = options;
    return (await this.call("session.transcript", params, { signal })).text;
  }

  /** Changes the terminal's size, 1 to 1000 a side, and tells the program. It counts as an input
   * for {@link Session.wait}. */
  async resize(rows: number, cols: number, options?: CallOptions): Promise<void> {
    const action: wire.Action = { type: "resize", value: { rows, cols } };
    await this.#after(this.call("session.input", { action }, options));
  }

  /**
   * Records the session into a new file: an asciicast, or by its extension `.md` a document.
   *
   * ```ts
   * await using recording = await s.record("demo.cast");
   * ```
   */
  async record(
    path: string,
    options: CallOptions & {
      format?: "asciicast-v2" | "asciicast-v3" | "markdown" | undefined;
      /** Keep what is typed as well. */
      input?: boolean | undefined;
      /** Pauses are to be played no longer than this, in milliseconds. */
      idleLimit?: number | undefined;
      title?: string | undefined;
    } = {},
  ): Promise<Recording> {
    const { signal, idleLimit, format = markdown(path), ...more } = options;
    const params = { ...more, path: resolve(path), format, idle_limit: idleLimit };
    const r = await this.call("session.record_start", params, { signal });
    return new Recording(this, r.recording, r.path);
  }

  /**
   * Runs a command line in the session's shell and returns its output and exit code.
   *
   * Rejects with NotAtPromptError when the shell is busy, NoShellError when the program is none,
   * and TimeoutError when the command takes longer than `timeout` milliseconds (30,000 unless
   * given): it then goes on.
   */
  async run(
    command: string,
    options: CallOptions & { timeout?: number | undefined; redact?: boolean | undefined } = {},
  ): Promise<RunResult> {
    const { signal, timeout, redact } = options;
    const timeout_ms = timeout === undefined ? undefined : milliseconds("timeout", timeout);
    const r = await this.#after(
      this.call("session.run", { command, timeout_ms, redact }, { signal }),
    );
    return {
      output: r.output,
      exitCode: r.exit_code,
      truncated: r.truncated,
      duration: r.duration_ms,
      exit: exitOf(r.exit ?? null),
    };
  }

  /**
   * Gives the person's terminal to the session, until the detach key is pressed or the program
   * ends: the session gets the terminal's size, and nobody else types meanwhile. Then both go back.
   * Needs a terminal on standard input and output. Resolves with the program's exit, null after the
   * detach key.
   */
  interact(options?: InteractOptions): Promise<Exit | null> {
    return interact(this, options);
  }

  /** How the program ended; null while it runs. */
  async exit(options?: CallOptions): Promise<Exit | null> {
    try {
      const params = { details: true, session: this.id };
      const { details } = await this.client.call("session.list", params, options);
      return exitOf(details?.[0]?.exit ?? null);
    } catch (error) {
      if (error instanceof PtywrightError && error.reason === "session_forgotten") {
        return exitOf((error.data as unknown as wire.SessionForgottenData).exit);
      }
      throw error;
    }
  }

  /** Ends the program and all that it has started. The session can still be read. */
  async kill(options?: CallOptions): Promise<void> {
    await this.call("session.kill", {}, options);
  }

  /** Ends the program and all that it has started, and forgets the session. To close it again, or
   * after its server has gone, does nothing. */
  async close(options?: CallOptions): Promise<void> {
    try {
      if (this.adapter) await this.adapter.close(options);
      else await this.call("session.close", {}, options);
    } catch (error) {
      if (!isOver(error)) throw error;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #type(actions: wire.Action[], options: InputOptions = {}): Promise<wire.SessionInputResult> {
    const { signal, delay, timeout, until } = options;
    const [action] = actions;
    const how = {
      delay_ms: delay === undefined ? undefined : milliseconds("delay", delay),
      timeout_ms: timeout === undefined ? undefined : milliseconds("timeout", timeout),
      until,
    };
    const what = actions.length === 1 && action && delay === undefined ? { action } : { actions };
    return this.#after(this.call("session.input", { ...what, ...how }, { signal }));
  }

  /** Makes an input the one that wait() counts from; one that fails changes nothing. */
  async #after<R extends { sequence: number; read_sequence?: number | undefined }>(
    input: Promise<R>,
  ): Promise<R> {
    const before = this.#input;
    let known: (sequence: number | Promise<number>) => void = () => {};
    const typed = new Promise<number>((resolve) => (known = resolve));
    this.#input = typed;
    let since = before;
    try {
      const r = await input; // by nobody else: an error's stack goes on only where one awaits it
      since = r.read_sequence ?? r.sequence;
      return r;
    } finally {
      known(since);
      if (this.#input === typed) this.#input = since;
    }
  }

  async #judge(
    params: DistributiveOmit<wire.SessionWaitParams, "session">,
    timeout = 30_000,
    signal?: AbortSignal,
  ): Promise<Match> {
    const timeout_ms = milliseconds("timeout", timeout);
    return new Match(await this.call("session.wait", { ...params, timeout_ms }, { signal }));
  }
}

/** The options among conditions. */
function optionsOf(until: Until | (Conditions & WaitOptions)): WaitOptions {
  return typeof until === "object" && !(until instanceof RegExp) && !("wire" in until) ? until : {};
}

const markdown = (path: string) => (path.endsWith(".md") ? ("markdown" as const) : undefined);
