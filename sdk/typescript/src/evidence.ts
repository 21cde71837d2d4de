import type { Exit, Explanation, Snapshot } from "./wire.js";

/** Why a wait did not match, as the server tells it. */
export interface Evidence {
  /** How long it waited, in milliseconds. */
  elapsed_ms: number;
  /** For how long the screen had not changed, in milliseconds. */
  quiet_ms?: number | undefined;
  /** The session's sequence at the end of the wait. */
  sequence?: number | undefined;
  /** Lines that scrolled off the screen were lost before they could be looked at; with `latched`
   * also: not all that was shown could be looked at. */
  missed?: boolean | undefined;
  /** The last screen. */
  snapshot: Snapshot;
  /** The last 2,048 characters of the output. */
  transcript_tail?: string | undefined;
  /** The matcher that was sent, with `held`, `why` and `nearest` at each node. */
  matcher: Explanation;
}

/** The evidence as `ptywright wait` prints it. */
export function evidenceText(e: Evidence): string {
  // A server may leave out more than this one does: what explains an error must not fail itself.
  const { exit, title, lines }: Partial<Snapshot> = e.snapshot ?? {};
  const how = ended(exit ?? null) + (title == null ? "" : `, titled ${title}`);
  const shown = [...(lines ?? [])];
  while (shown.length > 0 && shown[shown.length - 1]?.trim() === "") shown.pop();
  return [
    `no match after ${duration(e.elapsed_ms)}; ` +
      `the screen has been quiet for ${duration(e.quiet_ms ?? 0)}`,
    ...lacks(e.matcher, 0).map((line) => `- ${oneLine(line)}`),
    `the last screen, at sequence ${e.sequence ?? 0} (${oneLine(how)}):`,
    ...shown.map(quiet),
  ].join("\n");
}

const LIMITS: Record<string, string> = {
  max_ms: "max-time",
  idle_ms: "idle",
  max_memory: "max-memory",
  owner: "its client is gone",
};

/** How a program ended: `exit 3`, a signal's name or `killed`, and what else is known; `running`. */
export function ended(exit: Exit | null): string {
  if (exit === null) return "running";
  let how = exit.signal ?? (exit.exit_code === null ? "ended" : `exit ${exit.exit_code}`);
  if (exit.killed) how = "killed";
  const more: string[] = [];
  if (exit.limit) more.push(LIMITS[exit.limit] ?? "");
  if (exit.draining) more.push("draining");
  return more.length > 0 ? `${how} (${more.join(", ")})` : how;
}

/** The server's matchers are at most this deep. */
const DEPTH = 32;

interface Node {
  type?: string | undefined;
  value?: unknown;
  held?: boolean | undefined;
  why?: string | undefined;
  nearest?: string | undefined;
}

/** What each part of a matcher lacked, one line each, nested parts indented by two blanks. */
function lacks(node: Node, level: number): string[] {
  if (level > DEPTH || !node?.type) return [];
  let line = "  ".repeat(level) + node.type;
  let parts: Node[] = [];
  const { value } = node;
  if (Array.isArray(value)) parts = value as Node[];
  else if (typeof value === "object" && value !== null && Object.keys(value)[0] === "type") {
    parts = [value];
  } else if (value !== undefined && value !== null) line += ` ${JSON.stringify(value)}`;
  if (node.held) line += ": held";
  else if (node.why) line += `: ${node.why}`;
  if (node.nearest) line += ` (nearest: ${quoted(node.nearest)})`;
  return [line, ...parts.flatMap((part) => lacks(part, level + 1))];
}

/** A time as Go prints it: 300ms, 1.5s, 2m0.25s, 1h0m3s. */
function duration(ms: number): string {
  if (ms === 0) return "0s";
  if (ms < 1000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = (ms % 60_000) / 1000;
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const SHORT: Record<string, string> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  '"': '\\"',
  "\\": "\\\\",
};

const hex = (c: string, width: number) =>
  (c.codePointAt(0) ?? 0).toString(16).padStart(width, "0");

/** A text in double quotes, as Go prints it. */
function quoted(text: string): string {
  let out = "";
  for (const c of text) {
    if (SHORT[c]) out += SHORT[c];
    else if (PRINTABLE.test(c)) out += c;
    else if (c < " " || c === "\x7f") out += `\\x${hex(c, 2)}`;
    else out += c.length > 1 ? `\\U${hex(c, 8)}` : `\\u${hex(c, 4)}`;
  }
  return `"${out}"`;
}

/** A text in which nothing ends the line or moves what follows. */
function oneLine(text: string): string {
  let out = "";
  for (const c of text) {
    if (c < " " || (c >= "\x7f" && c < "\xa0")) out += `\\x${hex(c, 2)}`;
    else out += PRINTABLE.test(c) ? c : `\\u${hex(c, 4)}`;
  }
  return out;
}

/** A row without control characters; those of our servers have none. */
function quiet(row: string): string {
  return row.replace(/[\x00-\x08\x0a-\x1f\x7f-\x9f]/g, "\ufffd");
}
