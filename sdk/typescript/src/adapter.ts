import type { Client } from "./client.js";
import { isOver, type CallOptions } from "./connection.js";
import { milliseconds } from "./matchers.js";
import { Session } from "./session.js";
import type * as wire from "./wire.js";

/** How an adapter's wait is made. */
export interface AdapterWaitOptions extends CallOptions {
  /** What the plugin's wait matcher needs. */
  params?: Record<string, unknown> | undefined;
  /** How long to wait, in milliseconds: 120,000 unless given, 0 to look once. */
  timeout?: number | undefined;
  /** Only what came after it counts: a match's `next`, or a sequence. */
  since?: number | string | undefined;
  /** What held for a moment counts, too, also one that is over. */
  latched?: boolean | undefined;
}

const due = (ms: number | undefined) =>
  ms === undefined ? undefined : milliseconds("timeout", ms);

/**
 * A plugin that drives one session: it knows what a program's screen means and can act on it.
 * {@link Client.adapter} starts one; `await using` closes it.
 */
export class Adapter implements AsyncDisposable {
  readonly client: Client;
  /** The adapter's id. */
  readonly id: string;
  /** The plugin's name. */
  readonly plugin: string;
  /** The session that it drives: it can be read and waited on, but not typed into. */
  readonly session: Session;

  constructor(client: Client, started: wire.AdapterStarted) {
    this.client = client;
    this.id = started.adapter;
    this.plugin = started.plugin;
    this.session = new Session(client, started.session, this);
  }

  /** What the plugin says of the screen now. */
  async state(options?: CallOptions): Promise<wire.State> {
    return (await this.client.call("adapter.state", { adapter: this.id }, options)).state;
  }

  /** Performs one of the plugin's intents. The receipt says whether the program took it. */
  send(
    intent: string,
    params: Record<string, unknown> = {},
    options?: CallOptions,
  ): Promise<wire.AdapterSendResult> {
    return this.client.call("adapter.send", { adapter: this.id, intent, params }, options);
  }

  /** Waits for one of the plugin's wait matchers, unless named the end of the turn. */
  wait(matcher?: string, options: AdapterWaitOptions = {}): Promise<wire.AdapterWaitResult> {
    const { signal, timeout, ...rest } = options;
    const all = { adapter: this.id, intent: matcher, ...rest, timeout_ms: due(timeout) };
    return this.client.call("adapter.wait", all, { signal });
  }

  /** Performs an intent and waits for the end of the turn, with no other client's turn between. */
  turn(
    intent: string,
    params: Record<string, unknown> = {},
    options: AdapterWaitOptions & { wait?: string | undefined } = {},
  ): Promise<wire.AdapterTurnResult> {
    const { signal, timeout, wait, ...rest } = options;
    const until = { intent: wait, ...rest, timeout_ms: due(timeout) };
    const all = { adapter: this.id, send: { intent, params }, wait: until };
    return this.client.call("adapter.turn", all, { signal });
  }

  /** What has happened since an event's `seq`; `next` is for the next call. */
  events(since = 0, options?: CallOptions): Promise<wire.AdapterEventsResult> {
    return this.client.call("adapter.events", { adapter: this.id, since }, options);
  }

  /** Why the plugin says what it says of the screen. */
  explain(options?: CallOptions): Promise<wire.AdapterExplainResult> {
    return this.client.call("adapter.explain", { adapter: this.id }, options);
  }

  /** Ends the adapter and its session. To close it again does nothing. */
  async close(options?: CallOptions): Promise<void> {
    try {
      await this.client.call("adapter.close", { adapter: this.id }, options);
    } catch (error) {
      if (!isOver(error)) throw error;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
