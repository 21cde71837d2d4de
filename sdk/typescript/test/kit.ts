// What the tests share.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { spawn, type Session } from "@ptywright/sdk";

/** A shell whose prompt is `$ `. */
export async function shell(): Promise<Session> {
  const s = await spawn("sh", { env: { PS1: "$ ", ENV: undefined } });
  await s.expect({ regex: /\$$/ });
  return s;
}

/** A folder that goes with the test. */
export function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "ptywright-sdk-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** What an operation rejects with. */
export async function failure<E extends Error>(
  operation: Promise<unknown>,
  Class: abstract new (...args: never[]) => E,
): Promise<E> {
  try {
    await operation;
  } catch (error) {
    assert.ok(error instanceof Class, `${String(error)} is not a ${Class.name}`);
    return error;
  }
  assert.fail(`it did not fail with ${Class.name}`);
}

/** The processes whose parent is this one, or all below a process. */
export function children(of = process.pid): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state !== "Z") parents.set(Number(name), Number(parent));
    } catch {
      // it has ended meanwhile
    }
  }
  const found: number[] = [];
  const below = (pid: number) => {
    for (const [child, parent] of parents) {
      if (parent === pid) {
        found.push(child);
        below(child);
      }
    }
  };
  below(of);
  return found;
}

/** How many descriptors this process has open. */
export const descriptors = (): number => readdirSync("/proc/self/fd").length;

/** Whether a process is there. */
export function runs(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** Waits for what has no event, with a pause between looks. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let i = 0; !holds(); i++) {
    assert.ok(i < 1200, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
