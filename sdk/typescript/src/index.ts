/**
 * Drives terminal programs: {@link spawn} starts one on a terminal of its own.
 *
 * ```ts
 * import { spawn, TimeoutError } from "@ptywright/sdk";
 *
 * await using s = await spawn("sh", { env: { PS1: "$ " } });
 * await s.expect({ regex: /\$$/ }); // a state: the prompt is there
 * await s.send("echo $((6*7))\n");
 * await s.wait({ regex: /^42$/m }); // an event: only what came after the send
 * ```
 *
 * @packageDocumentation
 */
import "./dispose.js";

export { spawn, start, connect, Client } from "./client.js";
export type { SpawnOptions, StartOptions, SessionInfo, WaitManyOptions } from "./client.js";
export { Session, Snapshot, Match, Recording } from "./session.js";
export type { Exit, ExpectOptions, InputOptions, RunResult, WaitOptions } from "./session.js";
export { History, Span } from "./past.js";
export type { HistoryOptions, Moment } from "./past.js";
export type { ClickOptions, LocateOptions, Locator } from "./locate.js";
export type { InteractOptions } from "./interact.js";
export { Adapter } from "./adapter.js";
export type { AdapterWaitOptions } from "./adapter.js";
export { Notifications } from "./notifications.js";
export type { NotificationOptions } from "./notifications.js";
export {
  Matcher,
  all,
  any,
  bell,
  cursor,
  exited,
  finished,
  inState,
  located,
  lua,
  not,
  output,
  regex,
  screen,
  stable,
  text,
  title,
} from "./matchers.js";
export type { Conditions, Until } from "./matchers.js";
export {
  BinaryNotFound,
  ClientClosed,
  NotATerminal,
  ProtocolError,
  PtywrightError,
  ServerGone,
  ServerStuck,
} from "./errors.js";
export type { Evidence } from "./evidence.js";
export * from "./reasons.js";
export type { CallOptions } from "./connection.js";
export type * as wire from "./wire.js";
