// Tries the client in examples/unterm: node unterm_client.mjs CLIENT ROOT. Prints one JSON object.
const { discover, open } = await import(process.argv[2])

const said = {}
const failure = (err) => ({ code: err.code, message: err.message })
const records = await discover(process.argv[3])
said.names = records.map((r) => r.id)

said.refused = await open({ ...records[0], auth_token: "wrong" }).catch(failure)
said.silent = await open({ ...records[0], mcp_port: 1 }).catch(failure)

const unterm = await open(records[0])
// Written at once: the slow one is answered first, and errors keep their place.
const answers = await Promise.allSettled([
  unterm.call("exec.run_wait", { id: 0, command: "echo sl''ow ä€😀" }),
  unterm.call("no.such.method"),
  unterm.call("session.get", { id: 9 }),
  unterm.call("instance.info"),
])
said.slow = answers[0].value.output
said.unknown = failure(answers[1].reason)
said.missing = failure(answers[2].reason)
said.info = answers[3].value.id

const pending = unterm.call("orchestrate.wait", { id: 0, pattern: "never", timeout_ms: 60000 }).catch(failure)
unterm.close()
said.pending = (await pending).message
said.later = (await unterm.call("session.list").catch(failure)).message
console.log(JSON.stringify(said))
