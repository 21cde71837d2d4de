// Pattern 3: many agents, one instance each. Every agent takes an instance that nobody has and puts its name on it, as the
// title. A title alone cannot settle a race: whoever writes last has it, and the other one has looked already. So an agent
// first opens a session of its own there, which it needs anyway. A server numbers its sessions in the order in which they
// are opened, and of all who came at the same time the one with the lowest number has the instance; the others leave.
// Only then comes the title, which is asked back: an agent that knows no better may have written over it.
//
//   node claim.mjs [--root DIR] AGENT COMMAND
//
// The instance is kept until standard input ends; then session and title are taken away.

import { once } from "node:events"
import { discover, open, rootFolder } from "./client.mjs"
import { commandLine, die, parse } from "./arguments.mjs"

/** Takes the instance: the session there, or undefined when somebody else has it. */
async function take(unterm, title) {
  const { id } = await unterm.call("session.create", {})
  const { sessions } = await unterm.call("session.list")
  const first = Math.min(...sessions.filter((s) => s.id > 0 && !s.is_dead).map((s) => s.id)) // session 0 is there from the start
  const taken = first === id && !(await unterm.call("instance.info")).title
  if (taken) {
    await unterm.call("instance.set_title", { title })
    if ((await unterm.call("instance.info")).title === title) return id
  }
  await unterm.call("session.destroy", { id })
}

/** Goes over all instances without a title until one is taken: the connection, logged in, and the session. */
async function claim(root, title) {
  for (const record of await discover(root)) {
    if (record.title) continue
    let unterm
    try {
      unterm = await open(record)
      const session = await take(unterm, title)
      if (session !== undefined) return { unterm, session }
    } catch (err) {
      if (err.name === "UntermError") throw err
      console.error(`${record.id} is passed over: ${err.message}`) // it ended meanwhile
    }
    unterm?.close()
  }
  die("all instances are taken")
}

const { options, rest } = parse("node claim.mjs [--root DIR] AGENT COMMAND", ["root"], 2)
const [agent, ...command] = rest
const { unterm, session } = await claim(rootFolder(options.root), `[agent-${agent}]`)
try {
  const done = await unterm.call("exec.run_wait", { id: session, command: commandLine(command), timeout_ms: 20_000 })
  console.log(`agent-${agent} has ${unterm.name}, its command ended with ${done.exit_code}: ${done.output.trim()}`)
  process.exitCode = done.timed_out ? 3 : done.exit_code === 0 ? 0 : 1
  await once(process.stdin.resume(), "end")
} finally {
  await unterm.call("instance.set_title", { title: null })
  await unterm.call("session.destroy", { id: session })
  unterm.close()
}
