// Pattern 4: a router and its fleet. It starts an instance for each folder, tags each with its role, gives every worker the
// task, tells who is done first, waits for all, puts the results together, and ends what it has started. It never types
// a command into a terminal of its own, and it never sleeps: each step ends when what it waits for has happened.
//
//   node router.mjs [--root DIR] [--ptywright PROGRAM] --task COMMAND FOLDER...

import { execFile } from "node:child_process"
import { realpath } from "node:fs/promises"
import { basename } from "node:path"
import { promisify } from "node:util"
import { discover, open, rootFolder } from "./client.mjs"
import { die, parse } from "./arguments.mjs"

const run = promisify(execFile)

const usage = "node router.mjs [--root DIR] [--ptywright PROGRAM] --task COMMAND FOLDER..."
const { options, rest } = parse(usage, ["root", "ptywright", "task"], 1)
if (!options.task) die(`usage: ${usage}`, 2)
const root = rootFolder(options.root)

/** Runs ptywright fleet. What it complains of is said, and the end. */
async function fleet(...args) {
  try {
    return await run(options.ptywright || "ptywright", ["fleet", ...args, "--root", root])
  } catch (err) {
    die(err.stderr?.trim() || err.message)
  }
}

/** Has a worker do the task, in a session of its own, and says how that went. */
async function dispatch(record, task) {
  const unterm = await open(record)
  try {
    const { id } = await unterm.call("session.create", { cwd: record.cwd })
    const { output, exit_code, timed_out } = await unterm.call("exec.run_wait", { id, command: task, timeout_ms: 120_000 })
    return { name: record.id, role: record.title, output, exit_code, timed_out }
  } finally {
    unterm.close()
  }
}

const folders = await Promise.all(rest.map((f) => realpath(f)))
const places = folders.flatMap((f) => ["--cwd", f, "--tag", `[worker-${basename(f)}]`])
const { stdout } = await fleet("start", String(folders.length), ...places, "--json") // it returns when all of them answer
const started = stdout.trim().split("\n").map((line) => JSON.parse(line).id)
try {
  const workers = (await discover(root)).filter((r) => started.includes(r.id))
  const tasks = workers.map((record) => dispatch(record, options.task))
  const first = await Promise.race(tasks)
  console.log(`${first.role} (${first.name}) is done first`)

  const results = await Promise.all(tasks)
  for (const { name, role, output, exit_code } of results) {
    console.log(`${role} (${name}): exit code ${exit_code}`)
    if (output) process.stdout.write(output)
  }
  const good = results.filter((r) => r.exit_code === 0).length
  console.log(`${good} of ${results.length} succeeded`)
  process.exitCode = good === results.length ? 0 : 1
} finally {
  await fleet("stop", ...started)
}
