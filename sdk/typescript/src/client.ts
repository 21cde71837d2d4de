import { basename, resolve } from "node:path";
import { Adapter } from "./adapter.js";
import { defaultSocket, findBinary } from "./binary.js";
import { Connection, type CallOptions } from "./connection.js";
import { calledFrom, ProtocolError, ServerGone } from "./errors.js";
import { Hub, type Notifications, type NotificationOptions } from "./notifications.js";
import { CancelledError } from "./reasons.js";
import { Session } from "./session.js";
import { PROTOCOL } from "./wire.js";
import type * as wire from "./wire.js";

/** How a program is started. */
export interface SpawnOptions extends CallOptions {
  /** Variables to set besides the server's environment. Those that are undefined are left out. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Start from an empty environment instead of the server's. */
  clearEnv?: boolean | undefined;
  /** The working directory: with a private server relative to this process's. */
  cwd?: string | undefined;
  /** Rows of the terminal, 1 to 1000: 24 unless given. */
  rows?: number | undefined;
  /** Columns of the terminal, 1 to 1000: 80 unless given. */
  cols?: number | undefined;
  /** A name by which the session is found beside its id. */
  name?: string | undefined;
  /** Have an interactive bash, zsh or fish mark its commands: for exact output and exit codes. */
  shellIntegration?: boolean | undefined;
  /** What a line is taken for that is typed while the terminal does not echo: `ask`, `secret`
   * or `plain`. */
  echoOff?: "ask" | "secret" | "plain" | undefined;
  /** The colours that a program is told of and that pictures are drawn with. */
  theme?: "dark" | "light" | undefined;
  /** Lines to keep that have left the screen: 10,000 unless given. */
  scrollback?: number | undefined;
  /** Characters of output to keep: 131,072 unless given. */
  transcript?: number | undefined;
  /** `connection`: the session ends with this client. With a private server it does anyway. */
  owner?: "server" | "connection" | undefined;
  /** End it after so many milliseconds. */
  maxTime?: number | undefined;
  /** End it when it has written nothing, and nobody has typed, for so many milliseconds. */
  maxIdle?: number | undefined;
  /** End it when it takes more bytes of memory, with all that it starts. */
  maxMemory?: number | undefined;
}

/** What this program is called, for others who read who typed or has a session. */
function program(): string {
  return basename(process.argv[1] ?? "") || "node";
}

/** One session of a server, as a list of them shows it. */
export type SessionInfo = wire.Session;

/**
 * A connection to a server. {@link start} and {@link connect} make one; `await using` closes it.
 * Any number of sessions share it, and any number of calls may be under way.
 */
export class Client implements AsyncDisposable {
  /** What the server says of itself: its version, limits and vocabulary. */
  readonly capabilities: wire.ServerCapabilitiesResult;
  readonly #connection: Connection;
  readonly #hub: Hub;

  /** @internal */
  private constructor(connection: Connection, capabilities: wire.ServerCapabilitiesResult) {
    this.#connection = connection;
    this.capabilities = capabilities;
    this.#hub = new Hub(this, connection);
  }

  /** @internal */
  static async open(connection: Connection, where: string): Promise<Client> {
    try {
      const hello = connection.call("server.capabilities", {});
      // An older server does not know it.
      connection.call("server.set_client", { name: program() }).catch(() => {});
      // Sent along: an answer tells more than the time that it saves to wait for the first.
      const settings = [
        connection.call("server.set_strict", { strict: true }),
        connection.call("server.set_ordering", { ordering: "concurrent" }),
      ];
      for (const s of settings) s.catch(() => {});
      const capabilities = (await hello) as wire.ServerCapabilitiesResult;
      checkProtocol(capabilities, where);
      await Promise.all(settings);
      return new Client(connection, capabilities);
    } catch (error) {
      await connection.close();
      if (!(error instanceof ServerGone)) throw error;
      throw new ProtocolError(
        `${where} does not serve version ${PROTOCOL} of the wire: ${error.message}`,
        undefined,
        PROTOCOL,
        error,
      );
    }
  }

  /** The connection has ended, by {@link Client.close} or by the server. */
  get isClosed(): boolean {
    return this.#connection.isGone;
  }

  /** Resolves when the connection has ended, and for a private server when its process has. To wait
   * for it does not keep this process running. */
  get ended(): Promise<void> {
    return this.#connection.ended;
  }

  /** The process of a private server; undefined for one that was connected to. */
  get pid(): number | undefined {
    return this.#connection.pid;
  }

  /** How many calls have no answer yet. */
  get pending(): number {
    return this.#connection.pending;
  }

  /**
   * Calls any method of the wire, with its own names and units; see docs/wire.md. Sessions are
   * named in `params`.
   *
   * ```ts
   * const { matches } = await client.call("session.search", { session: s.id, text: "error" });
   * ```
   */
  async call<M extends keyof wire.Methods>(
    method: M,
    params: wire.Methods[M]["params"],
    options?: CallOptions,
  ): Promise<wire.Methods[M]["result"]> {
    const { timeout_ms = 0 } = params as { timeout_ms?: number };
    const answer = this.#connection.call(method, params, options, timeout_ms);
    // A wait may fail before anybody awaits it. To keep its stack costs little beside it, and for a
    // screen half as much as the call: other calls have the stack of who awaits them.
    const from = timeout_ms > 0 ? new Error() : undefined;
    try {
      return (await answer) as wire.Methods[M]["result"];
    } catch (error) {
      throw calledFrom(error, from ?? new Error());
    }
  }

  /**
   * Starts a program on a terminal of its own.
   *
   * Rejects with CannotStartError when there is no such program or directory.
   */
  spawn(program: string, options?: SpawnOptions): Promise<Session>;
  spawn(program: string, args: readonly string[], options?: SpawnOptions): Promise<Session>;
  async spawn(
    program: string,
    args: readonly string[] | SpawnOptions = [],
    more: SpawnOptions = {},
  ): Promise<Session> {
    const [list, o] = Array.isArray(args)
      ? [args as readonly string[], more]
      : [[], args as SpawnOptions];
    const own = this.pid !== undefined;
    const params: wire.SessionCreateParams = {
      program,
      args: [...list],
      env: o.env && (definedOnly(o.env) as Record<string, string>),
      clear_env: o.clearEnv,
      cwd: own ? resolve(o.cwd ?? ".") : o.cwd,
      rows: o.rows,
      cols: o.cols,
      name: o.name,
      shell_integration: o.shellIntegration,
      echo_off: o.echoOff,
      theme: o.theme,
      scrollback_max_lines: o.scrollback,
      transcript_max_chars: o.transcript,
      owner: o.owner,
      max_ms: o.maxTime,
      idle_ms: o.maxIdle,
      max_memory: o.maxMemory,
    };
    const { session } = await this.call("session.create", params, { signal: o.signal });
    const made = new Session(this, session);
    if (!o.signal?.aborted) return made;
    await made.close(); // it was made all the same
    throw new CancelledError("cancelled", {
      method: "session.create",
      reason: "cancelled",
      cause: o.signal.reason,
    });
  }

  /** All sessions of the server, ended ones included, in the order in which they were made. */
  async sessions(options?: CallOptions): Promise<SessionInfo[]> {
    return (await this.call("session.list", { details: true }, options)).details ?? [];
  }

  /** The session with that id or name. Rejects with UnknownSessionError when there is none. */
  async session(id: string, options?: CallOptions): Promise<Session> {
    const { details } = await this.call("session.list", { details: true, session: id }, options);
    return new Session(this, details?.[0]?.session ?? id);
  }

  /**
   * Notifications from now on, to be read with `for await`. See {@link Notifications}.
   *
   * ```ts
   * for await (const n of client.notifications({ sessions: [s] })) {
   *   if (n.method === "session.exited") break;
   * }
   * ```
   */
  notifications(options: NotificationOptions = {}): Notifications {
    return this.#hub.add(options);
  }

  /** Starts an adapter: a plugin that drives a program, such as `repl` or `shell`. */
  async adapter(
    plugin: string,
    options: SpawnOptions & { program?: string; args?: readonly string[] } = {},
  ): Promise<Adapter> {
    const { signal, env, args, cwd, program, name, rows, cols } = options;
    const started = await this.call(
      "adapter.start",
      {
        plugin,
        program,
        args: args && [...args],
        env: env && (definedOnly(env) as Record<string, string>),
        cwd,
        name,
        rows,
        cols,
      },
      { signal },
    );
    return new Adapter(this, started);
  }

  /** Ends the connection; a private server ends with all its sessions. Calls in progress reject
   * with ServerGone. To close it again does nothing. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function definedOnly(o: Readonly<Record<string, string | undefined>>): object {
  return Object.fromEntries(Object.entries(o).filter(([, value]) => value !== undefined));
}

function checkProtocol({ protocol, version }: wire.ServerCapabilitiesResult, where: string): void {
  if (protocol === PROTOCOL) return;
  const theirs = protocol === undefined ? "none that it tells" : `version ${protocol}`;
  const old = protocol === undefined || protocol < PROTOCOL;
  throw new ProtocolError(
    `the server ${where} (ptywright ${version}) speaks ${theirs} of the wire, and this package ` +
      `version ${PROTOCOL}: update ${old ? "ptywright" : "@ptywright/sdk"}`,
    protocol,
    PROTOCOL,
  );
}

/** How a private server is started. */
export interface StartOptions {
  /** The binary: unless given `$PTYWRIGHT_BIN`, else that of the package for this system, else
   * `ptywright` of the PATH. */
  binary?: string | undefined;
  /** More flags of `ptywright serve`. */
  args?: readonly string[] | undefined;
}

/**
 * Starts a private server, which ends with the client or with this process.
 *
 * Rejects with BinaryNotFound, with ProtocolError when the binary is of another version, and with
 * ServerGone when it ends at once.
 */
export async function start(options: StartOptions = {}): Promise<Client> {
  const binary = options.binary ?? findBinary();
  const args = ["serve", "--stdio", ...(options.args ?? [])];
  return Client.open(await Connection.start(binary, args), binary);
}

/**
 * Connects to a server that runs: at `socket`, else at `$PTYWRIGHT_SOCKET`, else at the user's own.
 * Sessions outlive the client unless they are closed.
 *
 * Rejects with ServerGone when none listens there, and with ProtocolError.
 */
export async function connect(socket: string = defaultSocket()): Promise<Client> {
  return Client.open(await Connection.dial(socket), `at ${socket}`);
}

let shared: Promise<Client> | undefined;

/** The private server of this process. */
async function server(): Promise<Client> {
  const made = shared;
  if (made !== undefined) {
    const client = await made.catch(() => undefined);
    if (client && !client.isClosed) return client;
    if (shared === made) shared = undefined;
  }
  shared ??= start();
  return shared;
}

/**
 * Starts a program on a terminal of its own, in a private server of this process that the first
 * call starts and that ends with the process.
 *
 * ```ts
 * await using s = await spawn("vim", ["notes.txt"], { rows: 40, cols: 120 });
 * ```
 *
 * Rejects with CannotStartError when there is no such program or directory, and as {@link start}
 * does.
 */
export function spawn(program: string, options?: SpawnOptions): Promise<Session>;
export function spawn(
  program: string,
  args: readonly string[],
  options?: SpawnOptions,
): Promise<Session>;
export async function spawn(
  program: string,
  args: readonly string[] | SpawnOptions = [],
  options: SpawnOptions = {},
): Promise<Session> {
  const client = await server();
  return Array.isArray(args)
    ? client.spawn(program, args as readonly string[], options)
    : client.spawn(program, args as SpawnOptions);
}
