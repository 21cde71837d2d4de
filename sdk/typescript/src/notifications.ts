import type { Client } from "./client.js";
import type { Connection } from "./connection.js";
import type { Adapter } from "./adapter.js";
import type { Session } from "./session.js";
import type * as wire from "./wire.js";

/** What to be notified of. Without sessions and adapters: of everything. */
export interface NotificationOptions {
  /** These sessions. */
  sessions?: readonly Session[] | undefined;
  /** These adapters. */
  adapters?: readonly Adapter[] | undefined;
  /** `session.event`, too: who typed how much, who waits for what and how it ended, commands,
   * leases. */
  events?: boolean | undefined;
  /** Ends the iteration. */
  signal?: AbortSignal | undefined;
}

/** How many notifications a reader may be behind, and of how much output of one session, in
 * characters. Older ones are then dropped. */
const MAX_QUEUED = 10_000;
const MAX_OUTPUT = 1 << 20;

/**
 * Notifications in the order in which the server sent them; an async iterator, to be read with
 * `for await`. It begins with the call that made it. A reader that is behind gets the output of a
 * session as one notification, and only the last of several `session.changed`; `dropped` is set
 * where a bound was passed.
 */
export class Notifications implements AsyncIterableIterator<wire.Notification>, AsyncDisposable {
  readonly #hub: Hub;
  readonly #connection: Connection;
  /** @internal */
  readonly options: NotificationOptions;
  #queue: wire.Notification[] = [];
  #waiting: { resolve: () => void }[] = [];
  #failure: Error | undefined;
  #done = false;
  readonly #abort = () => void this.return().catch(() => {});

  /** @internal */
  constructor(hub: Hub, connection: Connection, options: NotificationOptions) {
    this.#hub = hub;
    this.#connection = connection;
    this.options = options;
    options.signal?.addEventListener("abort", this.#abort, { once: true });
  }

  async next(): Promise<IteratorResult<wire.Notification, undefined>> {
    this.#connection.hold(); // a process that waits for a notification goes on
    try {
      for (;;) {
        const value = this.#queue.shift();
        if (value !== undefined) return { value, done: false };
        if (this.#failure) throw this.#failure;
        if (this.#done) return { value: undefined, done: true };
        await new Promise<void>((resolve) => this.#waiting.push({ resolve }));
      }
    } finally {
      this.#connection.release();
    }
  }

  /** Ends it; what is queued is dropped. */
  async return(): Promise<IteratorResult<wire.Notification, undefined>> {
    if (!this.#done) {
      this.#done = true;
      this.#queue = [];
      this.options.signal?.removeEventListener("abort", this.#abort);
      this.#wake();
      await this.#hub.remove(this);
    }
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** @internal */
  push(n: wire.Notification): void {
    if (this.#done || !this.#wants(n)) return;
    if (!this.#merge(n)) this.#queue.push(n);
    if (this.#queue.length > MAX_QUEUED) this.#queue.shift();
    this.#wake();
  }

  /** @internal */
  fail(error: Error): void {
    this.#failure = error;
    this.options.signal?.removeEventListener("abort", this.#abort);
    this.#wake();
  }

  #wants(n: wire.Notification): boolean {
    const { sessions, adapters, events } = this.options;
    if (n.method === "session.event" && events !== true) return false;
    if (sessions === undefined && adapters === undefined) return true;
    const params = n.params as { session?: string; adapter?: string };
    return (
      sessions?.some((s) => s.id === params.session) === true ||
      adapters?.some((a) => a.id === params.adapter || a.session.id === params.session) === true
    );
  }

  /** Merges a notification into one of the same session that is still queued. */
  #merge(n: wire.Notification): boolean {
    if (n.method !== "session.changed" && n.method !== "session.output") return false;
    // Only the last few are looked at: a longer queue is bounded by its length.
    for (let i = this.#queue.length - 1; i >= 0 && i >= this.#queue.length - 64; i--) {
      const q = this.#queue[i];
      if (q?.method !== n.method || q.params.session !== n.params.session) continue;
      if (n.method === "session.changed") {
        this.#queue.splice(i, 1);
        return false;
      }
      const old = q.params as wire.SessionOutputParams;
      const all = old.output + n.params.output;
      const dropped = old.dropped || n.params.dropped || all.length > MAX_OUTPUT;
      const output = all.slice(-MAX_OUTPUT);
      const params = { ...n.params, output, ...(dropped ? { dropped: true } : {}) };
      this.#queue.splice(i, 1);
      this.#queue.push({ method: n.method, params });
      return true;
    }
    return false;
  }

  #wake(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (const { resolve } of all) resolve();
  }
}

/** Who is notified of what, on one connection. */
export class Hub {
  readonly #client: Client;
  readonly #connection: Connection;
  readonly #readers = new Set<Notifications>();

  constructor(client: Client, connection: Connection) {
    this.#client = client;
    this.#connection = connection;
    connection.onNotification = (method, params) => {
      const n = { method, params } as wire.Notification;
      for (const reader of this.#readers) reader.push(n);
    };
    connection.onEnd = (why) => {
      for (const reader of this.#readers) reader.fail(why);
      this.#readers.clear();
    };
  }

  add(options: NotificationOptions): Notifications {
    const reader = new Notifications(this, this.#connection, options);
    if (options.signal?.aborted) {
      void reader.return();
      return reader;
    }
    this.#readers.add(reader);
    this.#tell().catch((error: Error) => reader.fail(error));
    return reader;
  }

  async remove(reader: Notifications): Promise<void> {
    if (this.#readers.delete(reader) && !this.#connection.isGone) await this.#tell();
  }

  /** Tells the server of what it is to notify us. */
  async #tell(): Promise<void> {
    const sessions = new Set<string>();
    const adapters = new Set<string>();
    let everything = false;
    let events = false;
    for (const { options } of this.#readers) {
      if (options.events === true) events = true;
      if (options.sessions === undefined && options.adapters === undefined) everything = true;
      for (const s of options.sessions ?? []) sessions.add(s.id);
      for (const a of options.adapters ?? []) adapters.add(a.id);
    }
    await this.#client.call("server.set_notifications", {
      enabled: this.#readers.size > 0,
      ...(events ? { events } : {}),
      ...(everything ? {} : { sessions: [...sessions], adapters: [...adapters] }),
    });
  }
}
