import { spawn, type ChildProcess } from "node:child_process";
import { connect as dial, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import {
  BinaryNotFound,
  ClientClosed,
  PtywrightError,
  ServerGone,
  ServerStuck,
  type ErrorDetails,
} from "./errors.js";
import { errorClasses } from "./reasons.js";

/** How a call is made. */
export interface CallOptions {
  /** Cancels the call on the server. It then rejects with CancelledError, once the server
   * has answered; what was done already is returned as if nothing had been cancelled. */
  signal?: AbortSignal | undefined;
}

/** Bytes of one message: more is not from a ptywright server. Every cell of the largest screen,
 * 1,000 by 1,000, is some 200 MB. */
const MAX_MESSAGE = 256 << 20;

/** How much of a server's standard error is kept, in characters, to show why it ended. */
const MAX_STDERR = 8 << 10;

/** How long a server may be silent after an answer is due, and then again after it was asked for
 * any answer at all, in milliseconds. Generous: a loaded machine is not a server that hangs. */
const GRACE = 10_000;

/** How long a private server may take to end: twice the five seconds that it promises. */
const END = 10_000;

interface Call {
  method: string;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  signal: AbortSignal | undefined;
  abort: (() => void) | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** The error of an answer. */
interface Fault {
  code: number;
  message: string;
  data?: Record<string, unknown>;
}

/** The part of a message of the server that is looked at. */
interface Message {
  id?: number | string | null;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: Fault;
}

type AnyError = new (message: string, details: ErrorDetails<never>) => PtywrightError;

/** The server's error as an object of its class; of a reason that is not known, of the base. */
function errorOf(method: string, fault: Fault, cause: unknown): PtywrightError {
  const { code, message, data = {} } = fault;
  const reason = typeof data["reason"] === "string" ? data["reason"] : undefined;
  const known = reason !== undefined && Object.hasOwn(errorClasses, reason);
  const Class = known ? errorClasses[reason as keyof typeof errorClasses] : PtywrightError;
  return new (Class as unknown as AnyError)(message, { method, reason, code, data: data as never, cause });
}

/**
 * One connection to a server: requests out, answers and notifications in, one JSON message a line.
 * Answers are matched by id, so any number of calls may be under way. While none is, the connection
 * does not keep the process alive.
 */
export class Connection {
  /** Resolves when the connection has ended, by either side, and for a private server when its
   * process has. */
  readonly ended: Promise<void>;
  /** Gets each notification. It must not throw. */
  onNotification: (method: string, params: unknown) => void = () => {};
  /** Is called once when the connection ends. It must not throw. */
  onEnd: (why: Error) => void = () => {};

  readonly #in: Writable;
  readonly #out: Readable & { ref?(): unknown; unref?(): unknown };
  readonly #child: ChildProcess | undefined;
  readonly #name: string;
  readonly #grace: number;
  readonly #calls = new Map<number, Call>();
  #last = 0; // the id of the last request
  #held = 0; // how many keep the process alive
  #parts: Buffer[] = []; // of a line whose end has not come
  #size = 0; // of #parts, in bytes
  #heard = 0; // when the server sent something
  #stderr = "";
  #exit: { code: number | null; signal: string | null } | undefined; // of the private server
  #gone: ((method: string) => PtywrightError) | undefined; // why there are no more calls
  #closing: Promise<void> | undefined;
  #finished!: () => void;

  private constructor(
    input: Writable,
    out: Readable,
    name: string,
    grace: number,
    child?: ChildProcess,
  ) {
    this.#in = input;
    this.#out = out;
    this.#name = name;
    this.#grace = grace;
    this.#child = child;
    this.ended = new Promise((resolve) => (this.#finished = resolve));
    out.on("data", (chunk: Buffer) => this.#read(chunk));
    out.on("error", (error) => this.#lost(error));
    out.on("close", () => this.#lost());
    input.on("error", () => {}); // out closes as well
  }

  /** Starts a private server. Rejects with {@link BinaryNotFound} when it cannot be started. */
  static async start(binary: string, args: readonly string[], grace = GRACE): Promise<Connection> {
    const child = spawn(binary, [...args], {
      stdio: ["pipe", "pipe", "pipe"],
      // Ctrl+C is for the program that uses the server, which may go on; the server ends with its
      // standard input.
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) =>
        reject(
          new BinaryNotFound(`start ${binary}: ${error.message}; check the path`, [binary], error),
        ),
      );
    });
    const c = new Connection(child.stdin, child.stdout, `server ${binary}`, grace, child);
    child.unref();
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      c.#stderr = (c.#stderr + text).slice(-MAX_STDERR);
    });
    for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as Socket).unref();
    child.on("exit", (code, signal) => {
      c.#exit = { code, signal };
      if (c.#out.closed) c.#finish();
      else setTimeout(() => c.#finish(), 1000).unref(); // another process may hold its output
    });
    return c;
  }

  /** Connects to the server that listens at a path. Rejects with {@link ServerGone}. */
  static async dial(path: string, grace = GRACE): Promise<Connection> {
    const socket = dial(path);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", (error) => {
        const next = "start one with ptywright serve, or use start() for a private one";
        reject(new ServerGone(`connect to ${path}: ${error.message}; ${next}`, { cause: error }));
      });
    });
    socket.removeAllListeners("error");
    socket.unref();
    return new Connection(socket, socket, `server at ${path}`, grace);
  }

  /** The connection has ended. */
  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** The process of a private server; undefined for one that was connected to. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How many calls have no answer yet. */
  get pending(): number {
    return this.#calls.size;
  }

  /**
   * Sends a request and returns its result. `due` is how long the server itself may take, in
   * milliseconds: it is not stopped by that, but a server that says nothing at all long after it is
   * taken for one that is stuck.
   */
  call(method: string, params: unknown, options: CallOptions = {}, due = 0): Promise<unknown> {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone(method));
      if (signal?.aborted) {
        const fault = { code: -32005, message: "cancelled before it was sent" };
        const data = { reason: "cancelled" };
        return reject(errorOf(method, { ...fault, data }, signal.reason));
      }
      const id = ++this.#last;
      const call: Call = { method, resolve, reject, signal, abort: undefined, timer: undefined };
      if (signal) {
        call.abort = () => this.#cancel(id);
        signal.addEventListener("abort", call.abort, { once: true });
      }
      this.#calls.set(id, call);
      this.#watch(call, due + this.#grace);
      this.hold();
      this.#send({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** Keeps the process alive until {@link release}; both count. */
  hold(): void {
    if (this.#held++ === 0) this.#out.ref?.();
  }

  /** Ends what {@link hold} began. */
  release(): void {
    if (--this.#held === 0 && this.#closing === undefined) this.#out.unref?.();
  }

  /**
   * Ends the connection: calls in progress are cancelled and reject with {@link ClientClosed}. A
   * private server ends its programs and then itself; one that does not within ten seconds is
   * killed. Resolves when all that is over.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (!this.#gone) {
      for (const id of this.#calls.keys()) this.#notifyCancel(id);
      this.#over((method) => new ClientClosed("the client was closed; make another", { method }));
    }
    this.#out.ref?.();
    this.#child?.ref();
    this.#in.end();
    const kill = setTimeout(() => this.#destroy(), this.#child ? END : 1000);
    await this.ended;
    clearTimeout(kill);
  }

  #send(message: object): void {
    this.#in.write(JSON.stringify(message) + "\n");
  }

  #notifyCancel(id: number): void {
    this.#send({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id } });
  }

  #cancel(id: number): void {
    const call = this.#calls.get(id);
    if (call === undefined || this.#gone) return;
    this.#notifyCancel(id);
    this.#watch(call, this.#grace); // its answer is due now
  }

  /** Looks after a call that should have been answered by then. */
  #watch(call: Call, ms: number): void {
    clearTimeout(call.timer);
    call.timer = setTimeout(() => {
      const asked = performance.now();
      const id = ++this.#last; // no call's: whatever is answered will do
      this.#send({ jsonrpc: "2.0", id, method: "server.set_strict", params: { strict: true } });
      call.timer = setTimeout(() => {
        if (this.#heard > asked) this.#watch(call, this.#grace);
        else this.#fail(this.#stuck);
      }, this.#grace);
    }, ms);
    call.timer.unref(); // the call itself keeps the process alive
  }

  readonly #stuck = (method: string): PtywrightError => {
    const seconds = Math.round(this.#grace / 1000);
    const next = this.#child ? "it was killed: spawn() and start() make another" : "end it";
    const what = `the ${this.#name} runs and has not answered for ${seconds} s`;
    return new ServerStuck(`${what}; ${next}`, { method });
  };

  #read(chunk: Buffer): void {
    this.#heard = performance.now();
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(10, from);
      if (end < 0) break;
      let line: string;
      if (this.#parts.length === 0) line = chunk.toString("utf8", from, end);
      else {
        this.#parts.push(chunk.subarray(from, end));
        line = Buffer.concat(this.#parts).toString("utf8");
        this.#parts = [];
        this.#size = 0;
      }
      from = end + 1;
      this.#take(line);
    }
    if (from === chunk.length) return;
    this.#parts.push(from === 0 ? chunk : chunk.subarray(from));
    this.#size += chunk.length - from;
    if (this.#size > MAX_MESSAGE) this.#fail(this.#lies("a message that is too large"));
  }

  #take(line: string): void {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch (error) {
      if (line.trim() !== "") this.#fail(this.#lies("something that is not a message", error));
      return;
    }
    const { id, method, error } = message;
    if (typeof method === "string" && id === undefined) {
      this.onNotification(method, message.params);
      return;
    }
    if (typeof id !== "number" || method !== undefined) {
      this.#fail(this.#lies(error ? `an error of no request: ${error.message}` : "no answer"));
      return;
    }
    const call = this.#calls.get(id);
    if (call === undefined) return; // asked by #watch
    this.#settle(id, call);
    if (error === undefined) call.resolve(message.result);
    else if (this.#closing && this.#gone) call.reject(this.#gone(call.method));
    else {
      const cause = call.signal?.aborted ? (call.signal.reason as unknown) : undefined;
      call.reject(errorOf(call.method, error, cause));
    }
  }

  #settle(id: number, call: Call): void {
    this.#calls.delete(id);
    clearTimeout(call.timer);
    if (call.abort) call.signal?.removeEventListener("abort", call.abort);
    this.release();
  }

  #lies(what: string, cause?: unknown): (method: string) => PtywrightError {
    return (method) => {
      const next = "the connection was cut; check that it is ptywright";
      return new ServerGone(`the ${this.#name} sent ${what}; ${next}`, { method, cause });
    };
  }

  /** The connection is of no use any more: it is cut, and a private server killed. */
  #fail(why: (method: string) => PtywrightError): void {
    this.#over(why);
    this.#destroy();
  }

  #destroy(): void {
    this.#child?.kill("SIGKILL"); // its watcher ends what it has started
    this.#in.destroy();
    this.#out.destroy();
  }

  /** Nothing more comes. A private server's exit code is waited for. */
  #lost(error?: Error): void {
    if (this.#child === undefined || this.#exit !== undefined) return this.#finish(error);
    this.#child.ref();
    setTimeout(() => this.#child?.kill("SIGKILL"), END).unref();
  }

  #finish(cause?: Error): void {
    const { code: exitCode = null, signal = null } = this.#exit ?? {};
    const how = signal ?? (exitCode === null ? "" : `exit code ${exitCode}`);
    const stderr = this.#stderr.trimEnd().split("\n").slice(-5).join("\n");
    const next = this.#child
      ? "its sessions are gone with it: spawn() and start() make another"
      : "connect() again when it is there";
    const said = stderr && `; it last said:\n${stderr}`;
    const what = `the ${this.#name} has ended${how && ` (${how})`}; ${next}${said}`;
    this.#over((method) => new ServerGone(what, { method, exitCode, signal, stderr, cause }));
    for (const [id, call] of this.#calls) {
      this.#settle(id, call);
      if (this.#gone) call.reject(this.#gone(call.method));
    }
    this.#out.destroy();
    this.#finished();
  }

  /** From now on there are no more calls. The first reason is the one that is told. */
  #over(why: (method: string) => PtywrightError): void {
    if (this.#gone) return;
    this.#gone = why;
    this.onEnd(why(""));
  }
}

/** Whether an error says that a session is no more, so that there is nothing to close. */
export function isOver(error: unknown): boolean {
  return (
    error instanceof ServerGone ||
    error instanceof ServerStuck ||
    error instanceof ClientClosed ||
    (error instanceof PtywrightError &&
      ["unknown_session", "unknown_adapter", "session_forgotten"].includes(error.reason ?? ""))
  );
}
