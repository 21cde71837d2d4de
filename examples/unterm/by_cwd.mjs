// Pattern 2: one agent, many instances. The agent works on a folder: it takes the instance whose folder that is, or else
// the one whose folder is nearest above it, and of several such the newest.
//
//   node by_cwd.mjs [--root DIR] FOLDER COMMAND

import { realpath } from "node:fs/promises"
import { relative, sep } from "node:path"
import { discover, open, rootFolder } from "./client.mjs"
import { commandLine, die, parse } from "./arguments.mjs"

/** Whether folder is inside of above, or is it. */
function inside(folder, above) {
  const way = relative(above, folder)
  return way === "" || (way !== ".." && !way.startsWith(".." + sep) && way !== folder)
}

/** The instance for a folder. Discovery tells the oldest first, so of equals the last is the newest. */
function pick(records, folder) {
  return records
    .filter((r) => r.cwd && inside(folder, r.cwd))
    .reduce((best, r) => (!best || r.cwd.length >= best.cwd.length ? r : best), undefined)
}

const { options, rest } = parse("node by_cwd.mjs [--root DIR] FOLDER COMMAND", ["root"], 2)
const [place, ...command] = rest
const folder = await realpath(place)
const records = await discover(rootFolder(options.root))
const record = pick(records, folder)
if (!record) die(`no instance works on ${folder}; there are: ${records.map((r) => `${r.id} (${r.cwd})`).join(", ") || "none"}`)

const unterm = await open(record)
try {
  const done = await unterm.call("exec.run_wait", { id: 0, command: commandLine(command), timeout_ms: 20_000 })
  console.log(`${unterm.name} in ${record.cwd}: ${done.exit_status}, exit code ${done.exit_code}`)
  process.stdout.write(done.output)
  process.exitCode = done.timed_out ? 3 : done.exit_code === 0 ? 0 : 1
} finally {
  unterm.close()
}
