import { evidenceText, type Evidence } from "./evidence.js";

/** What an error says besides its message. */
export interface ErrorDetails<D extends object> {
  /** The method that was called, such as `session.wait`; `""` when none was. */
  method?: string;
  /** `data.reason` of the server's error. */
  reason?: string | undefined;
  /** The code of the server's error. */
  code?: number | undefined;
  /** The data of the server's error. */
  data?: D | undefined;
  /** What led to it. */
  cause?: unknown;
}

/**
 * The base of all errors of this package. The server's errors have a subclass for each reason, such
 * as {@link TimeoutError}; an error whose reason this version does not know is a PtywrightError.
 *
 * `String(error)` and `error.message` say what was being done, why it failed and what to do, and
 * then the evidence of a wait as the command line prints it. They never hold the environment or the
 * arguments of a program.
 *
 * @typeParam D - the shape of {@link PtywrightError.data}
 */
export class PtywrightError<D extends object = Record<string, unknown>> extends Error {
  /** The method that was called, such as `session.wait`; `""` when none was. */
  readonly method: string;
  /** The server's word for what went wrong; undefined for failures on this side of the wire. */
  readonly reason: string | undefined;
  /** The server's error code; undefined for failures on this side of the wire. */
  readonly code: number | undefined;
  /** What the server added, `{}` if nothing. */
  declare readonly data: D;
  /** Why a wait did not match; undefined when the error is not a wait's. */
  declare readonly evidence: Evidence | undefined;

  constructor(message: string, details: ErrorDetails<D> = {}) {
    const { method = "", reason, code, data = {} as D, cause } = details;
    const evidence = evidenceOf(data);
    // As the command line prints it, in all SDKs: what a wait was for stands in its evidence.
    const text = evidence
      ? `${message}\n${evidenceText(evidence)}`
      : (method && `${method}: `) + message;
    super(text, cause === undefined ? {} : { cause });
    this.name = new.target.name;
    this.method = method;
    this.reason = reason;
    this.code = code;
    // What prints an error prints its members, too: the message has all that is of use there.
    Object.defineProperties(this, { data: { value: data }, evidence: { value: evidence } });
  }

  /** The message, without the name of the class before it. */
  override toString(): string {
    return this.message;
  }
}

/** Gives an error the stack of another, which was made where its call was: its own begins where the
 * answer was read, and does not say which line of the program failed. */
export function calledFrom(error: unknown, from: Error): unknown {
  if (!(error instanceof Error)) return error;
  const stack: unknown = from.stack; // a program may keep none, or have a form of its own for them
  const frames = typeof stack === "string" ? stack.indexOf("\n    at ") : -1;
  if (typeof stack === "string" && frames >= 0) {
    const value = `${error.name}: ${error.message}${stack.slice(frames)}`;
    Object.defineProperty(error, "stack", { value, writable: true, configurable: true });
  }
  return error;
}

function evidenceOf(data: object): Evidence | undefined {
  const d = data as Partial<Evidence>;
  return d.matcher !== undefined ? (d as Evidence) : undefined;
}

/** The server has ended, closed the connection, or sends what is not the native wire. */
export class ServerGone extends PtywrightError {
  /** The server's exit code; null when a signal ended it, or when it is not known. */
  readonly exitCode: number | null;
  /** The signal that ended the server, such as `SIGKILL`; null when none did. */
  readonly signal: string | null;
  /** The last lines that a private server wrote to its standard error. */
  readonly stderr: string;

  constructor(
    message: string,
    details: {
      method?: string;
      exitCode?: number | null;
      signal?: string | null;
      stderr?: string;
      cause?: unknown;
    } = {},
  ) {
    const { exitCode = null, signal = null, stderr = "", ...more } = details;
    super(message, more);
    this.exitCode = exitCode;
    this.signal = signal;
    this.stderr = stderr;
  }
}

/** The server runs, and neither reads what it is sent nor answers. The connection was cut. */
export class ServerStuck extends PtywrightError {}

/** The client was closed by this program. */
export class ClientClosed extends PtywrightError {}

/** There is no terminal to give to a session. */
export class NotATerminal extends PtywrightError {}

/** No `ptywright` binary was found, or it cannot be run. The message has what was tried. */
export class BinaryNotFound extends PtywrightError {
  /** The places that were tried, in order. */
  readonly tried: readonly string[];

  constructor(message: string, tried: readonly string[] = [], cause?: unknown) {
    super(message, { cause });
    this.tried = tried;
  }
}

/** The server speaks another version of the wire, or something else. The message says which side to
 * update. */
export class ProtocolError extends PtywrightError {
  /** The server's version of the wire; undefined when it tells none. */
  readonly server: number | undefined;
  /** This package's version of the wire. */
  readonly client: number;

  constructor(message: string, server: number | undefined, client: number, cause?: unknown) {
    super(message, { cause });
    this.server = server;
    this.client = client;
  }
}
