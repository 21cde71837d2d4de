// Pattern 1: one agent, one instance. It knows nothing of several instances: it reads server.json, which always describes
// the active one, lists the sessions, and runs a command in the default shell.
//
//   node one.mjs [--root DIR] [COMMAND]

import { active, open, rootFolder } from "./client.mjs"
import { commandLine, die, parse } from "./arguments.mjs"

const { options, rest } = parse("node one.mjs [--root DIR] [COMMAND]", ["root"], 0)
const root = rootFolder(options.root)
const record = await active(root)
if (!record) die(`no instance is running under ${root}: start one with ptywright unterm`)

const unterm = await open(record)
try {
  // Both requests are on their way before the first is answered; the answers come in the same order.
  const [{ sessions }, { shell }] = await Promise.all([unterm.call("session.list"), unterm.call("session.get", { id: 0 })])
  console.log(`${unterm.name}: ${sessions.length} session(s), the first runs ${shell.process_name || "a shell"}`)

  const done = await unterm.call("exec.run_wait", { id: 0, command: commandLine(rest) || "uname -s", timeout_ms: 20_000 })
  process.stdout.write(done.output)
  console.log(`${done.exit_status}, exit code ${done.exit_code}`)
  process.exitCode = done.timed_out ? 3 : done.exit_code === 0 ? 0 : 1
} finally {
  unterm.close()
}
