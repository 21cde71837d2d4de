// Golden screens: what the package does with files is what sdk/goldens.json says that every SDK does.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { spawn } from "@ptywright/sdk";
import { expect, expectScreen, GoldenError, keepScreens, Screens, tui } from "@ptywright/sdk/test";
import type { ScreenOptions, Update } from "@ptywright/sdk/test";
import { failure, folder } from "./kit.js";

type Lines = Record<string, string[]>;

interface Keeping {
  paths: { dir: string; test: string; name: string; path: string }[];
  updates: { variable: string; ci: string; flag: boolean; update?: Update; error?: string }[];
  steps: { update: Update; exists: boolean; step: string }[];
  cases: {
    case: string;
    ci?: string;
    variable?: string;
    flag?: boolean;
    env?: Record<string, string>;
    before?: Lines;
    after: Lines;
    options?: {
      text_only?: boolean;
      region?: [number, number, number, number];
      mask?: Record<string, string>;
      masks?: string[];
    };
    output: string;
    patient?: boolean;
    passes: boolean;
    says?: string[];
  }[];
}

const keeping = JSON.parse(readFileSync(process.env["GOLDENS"] ?? "", "utf8")) as Keeping;

/** The rule, which the package keeps to itself. */
interface Rule {
  VARIABLE: string;
  pathOf(folder: string, test: string, name: string): string;
  stepOf(update: Update, exists: boolean): string;
}
const at = new URL("screens.js", import.meta.resolve("@ptywright/sdk/test")).href;
const rule = (await import(at)) as Rule;

const text = (lines: string[]): string => `${lines.join("\n")}\n`;

function within(ci: string, variable: string): void {
  process.env["CI"] = ci;
  process.env[rule.VARIABLE] = variable;
}

test("paths, updates and steps", () => {
  assert.ok(keeping.paths.length > 5 && keeping.updates.length > 5 && keeping.steps.length === 8);
  for (const c of keeping.paths) assert.equal(rule.pathOf(c.dir, c.test, c.name), c.path);
  for (const c of keeping.updates) {
    within(c.ci, c.variable);
    const screens = new Screens("d", "t", c.flag ? "changed" : undefined);
    if (c.error !== undefined) assert.throws(() => screens.update, new RegExp(c.error));
    else assert.equal(screens.update, c.update);
  }
  for (const c of keeping.steps) assert.equal(rule.stepOf(c.update, c.exists), c.step);
});

describe("cases", () => {
  assert.ok(keeping.cases.length > 15);
  for (const c of keeping.cases) {
    test(c.case, async (t) => {
      within(c.ci ?? "", c.variable ?? "");
      const dir = folder(t);
      for (const [name, lines] of Object.entries(c.before ?? {})) {
        writeFileSync(join(dir, name), text(lines));
      }
      const args = ["-c", 'printf %s "$1"; read -r x', "sh", c.output];
      await using s = await spawn("sh", args, { rows: 3, cols: 16, env: c.env ?? {} });
      keepScreens(s, new Screens(dir, "", c.flag ? "changed" : undefined));
      await s.expect("ready");
      const { text_only: textOnly, ...more } = c.options ?? {};
      // Nothing more comes.
      const ends = c.passes || !c.before || c.variable !== undefined || c.patient;
      const timeout = ends ? undefined : 100;
      const options: ScreenOptions = { ...more, textOnly, timeout };
      if (c.passes) {
        await expectScreen(s, "main", options);
      } else {
        const error = await failure(expectScreen(s, "main", options), GoldenError);
        for (const says of c.says ?? []) assert.ok(error.message.includes(says), error.message);
      }
      const after: Lines = {};
      for (const name of readdirSync(dir)) {
        after[name] = readFileSync(join(dir, name), "utf8").slice(0, -1).split("\n");
      }
      assert.deepEqual(after, c.after);
    });
  }
});

test("what a program shows before it has drawn anything is not written down", async (t) => {
  within("", "");
  const dir = folder(t);
  const s = await spawn("sh", ["-c", "sleep 0.7; printf drawn; read -r x"], { rows: 2, cols: 9 });
  keepScreens(s, new Screens(dir));
  await expectScreen(s, "first", { textOnly: true });
  await s.close();
  assert.match(readFileSync(join(dir, "first.screen"), "utf8"), /^\|drawn$/m);
});

test("a file stands beside its test", async (t) => {
  within("", "");
  const file = fileURLToPath(import.meta.url);
  const screens = join(dirname(file), "__screens__");
  t.after(() => rmSync(screens, { recursive: true, force: true }));
  const where = join(screens, "goldens.test", "a file stands beside its test", "first.screen");
  const s = await tui(t, "sh", ["-c", "echo ready 12:34; read -r x"]);
  await expect(s).toShow("ready");
  await expect(s).toMatchScreen("first", { mask: { clock: /\d\d:\d\d/ }, textOnly: true });
  assert.ok(existsSync(where), where);
  assert.match(readFileSync(where, "utf8"), /^mask clock \/\\d\\d:\\d\\d\/$/m);
});
