/// <reference lib="esnext.disposable" preserve="true" />
import { resolve } from "node:path";
import type { Adapter } from "./adapter.js";
import type { Client } from "./client.js";
import { isOver, type CallOptions } from "./connection.js";
import { interact, type InteractOptions } from "./interact.js";
import { matcherOf, milliseconds, onScreen, type Conditions, type Until } from "./matchers.js";
import { PtywrightError } from "./errors.js";
import type { ClickOptions, LocateOptions, Locator } from "./locate.js";
import { History, momentOf, Span, type HistoryOptions, type Moment } from "./past.js";
import { exitOf, Match, Snapshot, type Exit } from "./screen.js";
import type * as wire from "./wire.js";

export { exitOf, Match, Snapshot, type Exit } from "./screen.js";

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
  /** 1 to 64 characters that no other input of the session has. What is sent again with it, as after
   * a connection was lost, is not typed again. Rejects with InputIdInUseError when something else
   * was sent with it. */
  id?: string | undefined;
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

  /** Whether this object has typed anything.
   * @internal */
  get typed(): boolean {
    return this.#input !== 0;
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

  /** Clicks on a cell, from 0, or on the one place of the screen that a locator means, for which it
   * waits: `await s.click("'Commit' in box 'Menu'")`. Resolves for a locator with its receipt: where it
   * was pressed, whether the place is `still_there`, and whether the program has `reacted`. Rejects
   * with MouseNotRequestedError when the program does not ask for the mouse; for a locator also with
   * NotFoundError and AmbiguousError. */
  click(
    row: number,
    col: number,
    options?: InputOptions & { button?: "left" | "middle" | "right" | undefined },
  ): Promise<void>;
  click(locator: Locator, options?: ClickOptions): Promise<wire.Pressed>;
  async click(
    row: number | Locator,
    col: number | ClickOptions = {},
    options: InputOptions & { button?: "left" | "middle" | "right" | undefined } = {},
  ): Promise<void | wire.Pressed> {
    if (typeof row !== "number") {
      const { at, button, mods, count, ...how } = typeof col === "number" ? {} : col;
      const value = { locator: row, at, button, mods, count } as wire.ClickAction["value"];
      return one((await this.#type([{ type: "click", value }], how)).receipts);
    }
    const { button = "left", ...more } = options;
    const at = (action: "press" | "release"): wire.Action => ({
      type: "mouse",
      value: { row, col: Number(col), button, action },
    });
    await this.#type([at("press"), at("release")], more);
  }

  /** Presses a mouse button on the place that one locator means, and releases it on that of another.
   * Both are found before anything is pressed. Rejects as `click` does. */
  async drag(from: Locator, to: Locator, options: ClickOptions = {}): Promise<wire.Pressed[]> {
    const { button, mods, ...how } = options;
    const value = { from: { locator: from }, to: { locator: to }, button, mods };
    return (await this.#type([{ type: "drag", value }], how)).receipts ?? [];
  }

  /** Turns the wheel by so many notches on the place that a locator means. Rejects as `click` does. */
  async scroll(
    where: Locator,
    towards: "up" | "down" | "left" | "right" = "down",
    by = 1,
    options?: InputOptions,
  ): Promise<wire.Pressed> {
    const value = { in: { locator: where }, towards, by };
    return one((await this.#type([{ type: "scroll", value }], options)).receipts);
  }

  /**
   * Waits until a locator means exactly one place of the screen, and resolves with it: its `text` and
   * its cells, `spans`. docs/locators.md has the words.
   *
   * ```ts
   * const { text } = await s.locate("cross 'b.txt' 'Size'");
   * ```
   *
   * Rejects with NotFoundError, whose data has the `nearest` line, AmbiguousError with all `places`,
   * and InvalidLocatorError.
   */
  async locate(locator: Locator, options: LocateOptions = {}): Promise<wire.Place> {
    const { signal, stable, since, redact, timeout = 30_000 } = options;
    const state = stable ? ("stable" as const) : undefined;
    const params = { locator, state, strict: true, since, redact };
    const timeout_ms = milliseconds("timeout", timeout);
    return one((await this.call("session.locate", { ...params, timeout_ms }, { signal })).matches);
  }

  /** All places that a locator means on the screen as it is, or with `at` was; none when it means
   * nothing. */
  async locateAll(
    locator: Locator,
    options: CallOptions & { at?: Moment | undefined; redact?: boolean | undefined } = {},
  ): Promise<wire.Place[]> {
    const { signal, redact } = options;
    const params = { locator, timeout_ms: 0, at: momentOf(options.at), redact };
    try {
      return (await this.call("session.locate", params, { signal })).matches;
    } catch (error) {
      if (error instanceof PtywrightError && error.reason === "not_found") return [];
      throw error;
    }
  }

  /** Waits until a locator means no place of the screen. Rejects with TimeoutError when it goes on to. */
  async gone(locator: Locator, options: CallOptions & { timeout?: number } = {}): Promise<void> {
    const { signal, timeout = 30_000 } = options;
    const timeout_ms = milliseconds("timeout", timeout);
    await this.call("session.locate", { locator, state: "hidden", timeout_ms }, { signal });
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
   * `cells: "full"` or `"runs"` only. Rejects with MomentNotKeptError for what has been dropped, or
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
    const { signal, delay, timeout, until, id } = options;
    const [action] = actions;
    const how = {
      id,
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

/** The one that a server tells. */
function one<T>(told: readonly T[] | undefined): T {
  const [first] = told ?? [];
  if (first === undefined) throw new TypeError("the server has told of no place");
  return first;
}

/** The options among conditions. */
function optionsOf(until: Until | (Conditions & WaitOptions)): WaitOptions {
  return typeof until === "object" && !(until instanceof RegExp) && !("wire" in until) ? until : {};
}

const markdown = (path: string) => (path.endsWith(".md") ? ("markdown" as const) : undefined);
