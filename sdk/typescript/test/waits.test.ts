// Waits hold when sdk/waits.json says so, of real programs on a real server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Matcher, spawn, title, TimeoutError, type wire } from "@ptywright/sdk";
import { failure } from "./kit.js";

interface Vector {
  name: string;
  pieces: string[];
  asks: {
    matcher: wire.Matcher;
    since?: number; // how many pieces came before what counts
    behind?: number; // a piece: goes on from the next of a wait for its title
    from?: number; // an earlier one, whose next this goes on from
    latched?: boolean;
    holds: boolean;
    text?: string;
    screen?: string;
  }[];
}

const vectors = JSON.parse(readFileSync(process.env["WAITS"] ?? "", "utf8")) as Vector[];

/** A shell script that writes the pieces. Each ends with a title, so that it is known to have been
 * read, and is followed by a line that is to be typed. */
function script(pieces: string[]): string {
  const octal = (text: string) =>
    [...Buffer.from(text)].map((c) => `\\${c.toString(8).padStart(3, "0")}`).join("");
  const print = (piece: string, i: number) =>
    `; printf '${octal(`${piece}\u001b]2;piece ${i + 1}\u0007`)}'; read -r _`;
  return `stty -echo -opost${pieces.map(print).join("")}`;
}

for (const v of vectors) {
  test(v.name, async () => {
    await using s = await spawn("sh", ["-c", script(v.pieces)], { rows: 4, cols: 20 });
    const after: [sequence: number, next?: string][] = [[0]];
    for (let i = 1; i <= v.pieces.length; i++) {
      if (i > 1) await s.send("\n");
      const m = await s.expect(title(`piece ${i}`));
      after.push([m.sequence, m.next]);
    }
    const next: (string | undefined)[] = [];
    for (const ask of v.asks) {
      let since: number | string | undefined = after[ask.since ?? 0]?.[0];
      if (ask.from !== undefined) since = next[ask.from];
      if (ask.behind !== undefined) since = after[ask.behind]?.[1];
      const options = { since, latched: ask.latched ?? false, timeout: 0 };
      const wait = s.wait(new Matcher(ask.matcher), options);
      if (!ask.holds) {
        const e = await failure(wait, TimeoutError);
        assert.ok(!e.evidence?.missed, JSON.stringify(ask));
        next.push(undefined);
        continue;
      }
      const m = await wait;
      next.push(m.next);
      assert.ok(!m.missed, JSON.stringify(ask));
      if (ask.text !== undefined) assert.equal(m.text, ask.text, JSON.stringify(ask));
      if (ask.screen !== undefined) assert.equal(m.screen.text, ask.screen, JSON.stringify(ask));
    }
  });
}
