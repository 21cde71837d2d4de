import { Snapshot } from "./session.js";
import type * as wire from "./wire.js";
import type { CallOptions } from "./connection.js";

/** A moment of a session's past: a sequence, a time by the server's clock, or milliseconds ago. */
export type Moment = number | Date | { readonly ago: number };

/** What `session.history` looks at. */
export interface HistoryOptions extends CallOptions {
  /** Only moments after it. */
  since?: Moment | undefined;
  /** Only moments up to it. */
  until?: Moment | undefined;
  /** The first span, the last, or all (default). */
  which?: "first" | "last" | "all" | undefined;
  /** Milliseconds that the matcher may take for one moment: 30,000 unless told. */
  timeout?: number | undefined;
  redact?: boolean | undefined;
}

/** A stretch of time in which a matcher held. */
export class Span {
  /** What the server sent. */
  readonly wire: wire.Span;
  /** When it came. */
  readonly fromAt: Date;
  /** When it was gone, or the end of what was looked at. */
  readonly toAt: Date;
  /** The screen on which it came. */
  readonly screen: Snapshot;

  constructor(span: wire.Span) {
    this.wire = span;
    this.fromAt = new Date(span.from_at);
    this.toAt = new Date(span.to_at);
    this.screen = new Snapshot(span.snapshot);
  }

  /** The first sequence in which it held. */
  get from(): number {
    return this.wire.from;
  }

  /** The first one after it in which it did not; null while it holds. */
  get to(): number | null {
    return this.wire.to;
  }

  /** How long it held, in milliseconds. */
  get ms(): number {
    return this.wire.ms;
  }

  /** What matched first. */
  get outcome(): wire.Outcome {
    return this.wire.outcome;
  }
}

/** The spans in which a matcher held, in order. */
export class History extends Array<Span> {
  /** The oldest sequence that could be looked at. */
  keptFrom = 0;
  /** All that was asked about was looked at; otherwise part of it had been dropped. */
  complete = false;

  static override get [Symbol.species](): ArrayConstructor {
    return Array; // what is made of it, such as map, is a plain array
  }
}

/** A moment as the wire has it. */
export function momentOf(at: Moment): wire.Moment;
export function momentOf(at: Moment | undefined): wire.Moment | undefined;
export function momentOf(at: Moment | undefined): wire.Moment | undefined {
  if (at instanceof Date) return { time: at.toISOString() };
  return typeof at === "object" ? { ago_ms: Math.round(at.ago) } : at;
}
