import type { CallOptions } from "./connection.js";
import type { InputOptions } from "./session.js";
import type * as wire from "./wire.js";

/** A place by what a person would call it: in words, such as `"'Commit' in box 'Menu'"`, or as an
 * object. docs/locators.md has both. */
export type Locator = wire.Locator;

/** How a locator is waited for. */
export interface LocateOptions extends CallOptions {
  /** The place has to have been as it is for 300 ms. */
  stable?: boolean | undefined;
  /** How long to wait, in milliseconds: 30,000 unless given, 0 to look once. */
  timeout?: number | undefined;
  /** Only a place counts of which a row was written after it: a sequence, or {@link Match.next}. */
  since?: number | string | undefined;
  /** False shows secrets. */
  redact?: boolean | undefined;
}

/** How what a locator means is clicked. */
export interface ClickOptions extends InputOptions {
  /** Which cell of the place: its center (default), its start or its end. */
  at?: "center" | "start" | "end" | undefined;
  /** The button: left unless given. */
  button?: "left" | "middle" | "right" | undefined;
  /** Keys that are held down. */
  mods?: ("shift" | "alt" | "ctrl")[] | undefined;
  /** How often: 2 is a double click. */
  count?: number | undefined;
}
