import { StringDecoder } from "node:string_decoder";
import { isOver, type CallOptions } from "./connection.js";
import { NotATerminal } from "./errors.js";
import { exitOf, type Exit, type Session } from "./session.js";
import type * as wire from "./wire.js";

/** How a person's terminal is given to a session. */
export interface InteractOptions extends CallOptions {
  /** The letter or sign that detaches with Ctrl: `]` unless given. */
  detach?: string | undefined;
  /** Who types, for others to read: `interact` unless given. */
  holder?: string | undefined;
  /** Take the right to type from whoever has it. */
  take?: boolean | undefined;
}

/** What a terminal mirrors of the program's, besides what is drawn. */
const MODES: [(m: wire.FrameModes) => boolean, on: string, off: string][] = [
  [(m) => m.application_cursor, "\x1b[?1h", "\x1b[?1l"],
  [(m) => m.application_keypad, "\x1b=", "\x1b>"],
  [(m) => m.bracketed_paste, "\x1b[?2004h", "\x1b[?2004l"],
  [(m) => m.focus_events, "\x1b[?1004h", "\x1b[?1004l"],
  [(m) => m.reverse_video, "\x1b[?5h", "\x1b[?5l"],
  [(m) => m.mouse === "x10" || m.mouse === "vt200", "\x1b[?1000;1006h", "\x1b[?1000;1006l"],
  [(m) => m.mouse === "drag", "\x1b[?1002;1006h", "\x1b[?1002;1006l"],
  [(m) => m.mouse === "any", "\x1b[?1003;1006h", "\x1b[?1003;1006l"],
];

/** Title kept, alternate screen, no wrapping at the right edge; and all of it back. */
const ENTER = "\x1b[22;0t\x1b[?1049h\x1b[r\x1b[?6;7l\x1b[0m\x1b[2J\x1b[H";
const LEAVE = "\x1b[0m\x1b]8;;\x1b\\\x1b[?7h\x1b[0 q\x1b[?25h\x1b[?1049l\x1b[23;0t";

/** A report of the mouse, in the form of mode 1006. */
const MOUSE = /\x1b\[<(\d+);(\d+);(\d+)([Mm])/g;
const BUTTONS = ["left", "middle", "right", "none"] as const;
const WHEELS = ["wheel_up", "wheel_down", "wheel_left", "wheel_right"] as const;

export async function interact(
  session: Session,
  options: InteractOptions = {},
): Promise<Exit | null> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) {
    throw new NotATerminal(
      "interact: standard input or output is no terminal; run this in one, or use send and wait",
    );
  }
  const { detach = "]", holder = "interact", take, signal } = options;
  const key = String.fromCharCode(detach.toUpperCase().charCodeAt(0) & 31);
  const over = new AbortController();
  const end = () => over.abort();
  let failure: unknown;
  const fail = (error: unknown) => {
    if (!over.signal.aborted) failure = error;
    end();
  };
  signal?.throwIfAborted();
  await session.call("session.lease", { holder, take }, { signal });

  const fit = () => {
    const size = { rows: Math.min(stdout.rows, 1000), cols: Math.min(stdout.columns, 1000) };
    session.call("session.resize", { ...size, hold: true }).catch(fail);
  };
  const decoder = new StringDecoder("utf8");
  const read = (chunk: Buffer) => {
    let text = decoder.write(chunk);
    const at = text.indexOf(key);
    if (at >= 0) text = text.slice(0, at);
    stdin.pause(); // one input is under way at a time: what cannot be typed is not read
    typed(session, text).then(() => {
      if (at >= 0) end();
      else if (!over.signal.aborted) stdin.resume();
    }, fail);
  };
  signal?.addEventListener("abort", end);
  stdout.on("resize", fit);
  stdin.setRawMode(true);
  stdout.write(ENTER);
  let modes: wire.FrameModes | undefined;
  try {
    fit();
    stdin.on("data", read).resume();
    let frame: wire.Frame | undefined;
    while (!over.signal.aborted && !(frame?.exit && !frame.exit.draining)) {
      frame = await session.call(
        "session.frame",
        { form: "ansi", since: frame?.sequence, timeout_ms: 600_000 },
        { signal: over.signal },
      );
      stdout.write(drawn(frame, modes));
      modes = frame.modes;
    }
    return exitOf(frame?.exit ?? null);
  } catch (error) {
    if (failure !== undefined) throw failure;
    if (signal?.aborted || !over.signal.aborted) throw error;
    return null; // detached
  } finally {
    stdin.off("data", read).pause();
    stdin.setRawMode(false);
    stdout.off("resize", fit);
    signal?.removeEventListener("abort", end);
    stdout.write(MODES.map(([is, , off]) => (modes && is(modes) ? off : "")).join("") + LEAVE);
    await session.call("session.release", {}).catch((error: unknown) => {
      if (!isOver(error)) throw error;
    });
  }
}

/** What a frame changes on the terminal. */
function drawn(frame: wire.Frame, before: wire.FrameModes | undefined): string {
  const { cursor, title } = frame;
  let out = "\x1b[?25l" + (frame.full ? "\x1b[0m\x1b[2J" : "");
  for (const { row, ansi } of frame.rows) {
    out += `\x1b[${row + 1};1H\x1b[0m\x1b[2K${ansi ?? ""}\x1b[0m\x1b]8;;\x1b\\`;
  }
  for (const [is, on, off] of MODES) {
    const now = is(frame.modes);
    if (now !== (before !== undefined && is(before))) out += now ? on : off;
  }
  if (title !== null) out += `\x1b]2;${title.replace(/[\x00-\x1f\x7f-\x9f]/g, "")}\x1b\\`;
  out += `\x1b[${cursor.row + 1};${cursor.col + 1}H\x1b[${cursor.style} q`;
  return cursor.visible ? out + "\x1b[?25h" : out;
}

/** Types what the terminal sent: reports of the mouse as such, all else as it is. */
async function typed(session: Session, text: string): Promise<void> {
  let from = 0;
  for (const m of text.matchAll(MOUSE)) {
    if (m.index > from) await session.send(text.slice(from, m.index));
    from = m.index + m[0].length;
    const value = mouse(Number(m[1]), Number(m[2]) - 1, Number(m[3]) - 1, m[4] === "m");
    await session.call("session.input", { action: { type: "mouse", value } });
  }
  if (from < text.length) await session.send(text.slice(from));
}

function mouse(code: number, col: number, row: number, up: boolean): wire.MouseAction["value"] {
  const button = (code & 64 ? WHEELS : BUTTONS)[code & 3] ?? "none";
  const action = code & 32 ? "move" : up ? "release" : "press";
  const mods = (["shift", "alt", "ctrl"] as const).filter((_, i) => code & (4 << i));
  return { row, col, button, action, ...(mods.length > 0 ? { mods } : {}) };
}
