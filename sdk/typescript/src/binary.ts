import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { BinaryNotFound } from "./errors.js";

const WINDOWS = process.platform === "win32";
const NAME = WINDOWS ? "ptywright.exe" : "ptywright";

/** The package that holds the binary for this system. */
const PACKAGE = `@ptywright/cli-${process.platform}-${process.arch}`;

/**
 * Where the `ptywright` binary is: `$PTYWRIGHT_BIN`, the package for this system that is installed
 * beside this one, or the PATH.
 *
 * @throws BinaryNotFound with all that was tried
 */
export function findBinary(): string {
  const tried: string[] = [];
  const named = process.env["PTYWRIGHT_BIN"];
  if (named) {
    if (runs(named)) return resolve(named);
    throw new BinaryNotFound(
      `PTYWRIGHT_BIN is ${named}, which is not a program that can be run; correct or unset it`,
      [named],
    );
  }
  try {
    const found = createRequire(import.meta.url).resolve(`${PACKAGE}/bin/${NAME}`);
    if (runs(found)) return found;
    tried.push(found);
  } catch {
    tried.push(PACKAGE);
  }
  for (const dir of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(dir, NAME);
    if (dir !== "" && runs(path)) return path;
  }
  tried.push("PATH");
  throw new BinaryNotFound(
    `no ptywright binary: PTYWRIGHT_BIN is not set, the package ${PACKAGE} is not installed, ` +
      `and PATH has none; install ${PACKAGE} (npm leaves it out with --omit=optional), ` +
      `or set PTYWRIGHT_BIN to a binary`,
    tried,
  );
}

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Where a server listens that people share: `$PTYWRIGHT_SOCKET`, or else the user's own. */
export function defaultSocket(): string {
  const named = process.env["PTYWRIGHT_SOCKET"];
  if (named) return named;
  const root = resolve(process.env["PTYWRIGHT_HOME"] || join(homedir(), ".ptywright"));
  if (!WINDOWS) return join(root, "socket");
  return `\\\\.\\pipe\\ptywright-${root.toLowerCase().replace(/[\\/]/g, "-").replace(/:/g, "")}`;
}
