// A client of the Unterm wire that needs nothing but Node: find the instances, log in, call.
//
//   import { discover, open, rootFolder } from "./client.mjs"
//   const unterm = await open((await discover(rootFolder()))[0])
//   console.log(await unterm.call("exec.run_wait", { id: 0, command: "date" }))
//   unterm.close()

import { readdir, readFile } from "node:fs/promises"
import { connect } from "node:net"
import { homedir } from "node:os"
import { join } from "node:path"

/** The folder that instances register in: as given, or $PTYWRIGHT_HOME, or ~/.ptywright. */
export function rootFolder(given) {
  return given || process.env.PTYWRIGHT_HOME || join(homedir(), ".ptywright")
}

/** Whether a process with this number exists. One that we may not signal does. */
function alive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (err) {
    return err.code === "EPERM"
  }
}

/** Whether this is the record of an instance that can be spoken to. */
function usable(record) {
  return Boolean(record?.id && record.auth_token) && Number.isInteger(record.mcp_port) && Number.isInteger(record.pid) && alive(record.pid)
}

/** The record in a file, or undefined when the file is gone or is none. */
async function readRecord(path) {
  try {
    const record = JSON.parse(await readFile(path, "utf8"))
    return usable(record) ? record : undefined
  } catch (err) {
    if (err.code === "ENOENT" || err instanceof SyntaxError) return undefined // it ended just now, or is not a record
    throw err
  }
}

/** The records of all live instances under a root, the oldest first. */
export async function discover(root) {
  const folder = join(root, "instances")
  let names
  try {
    names = await readdir(folder)
  } catch (err) {
    if (err.code === "ENOENT") return []
    throw err
  }
  const records = await Promise.all(names.filter((n) => n.endsWith(".json")).map((n) => readRecord(join(folder, n))))
  return records.filter(Boolean).sort((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at) || a.id.localeCompare(b.id))
}

/** The record of the active instance, which server.json mirrors, or undefined. */
export async function active(root) {
  return readRecord(join(root, "server.json"))
}

/** What the server answers instead of a result. */
export class UntermError extends Error {
  constructor(method, code, message) {
    super(`${method}: ${message} (${code})`)
    this.name = "UntermError"
    this.code = code
    this.text = message
  }
}

/** How long a connection may take to be made, in milliseconds. It is on this machine: what takes longer does not listen. */
const connectTimeout = 2000

/** Connects to the instance that a record describes, and logs in. */
export async function open(record) {
  const socket = connect({ host: "127.0.0.1", port: record.mcp_port, noDelay: true })
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error(`${record.id} does not answer on port ${record.mcp_port}`)), connectTimeout)
    socket.once("connect", () => (clearTimeout(timer), socket.off("error", reject), resolve()))
    socket.once("error", (err) => (clearTimeout(timer), reject(err)))
  })
  const unterm = new Unterm(socket, record.id)
  try {
    await unterm.call("auth.login", { token: record.auth_token })
  } catch (err) {
    unterm.close()
    throw err
  }
  return unterm
}

/**
 * One connection. The server takes one request after the other and answers in that order, so calls may be made without
 * waiting for earlier ones; for what shall run at the same time, open a connection each.
 */
export class Unterm {
  #socket
  #waiting = [] // {id, method, resolve, reject}, the oldest first
  #last = 0
  #rest = ""
  #ended // the error that all later calls get

  constructor(socket, name) {
    this.name = name
    this.#socket = socket
    socket.setEncoding("utf8") // characters may come in pieces
    socket.on("data", (text) => this.#read(text))
    socket.on("error", (err) => this.#end(err))
    socket.on("close", () => this.#end(new Error(`${name} closed the connection`)))
  }

  /** Calls a method: its result, or an UntermError with a code. */
  call(method, params = {}) {
    if (this.#ended) return Promise.reject(this.#ended)
    const id = ++this.#last
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, method, resolve, reject })
      this.#socket.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n")
    })
  }

  /** Ends the connection. Calls without an answer fail. */
  close() {
    this.#end(new Error(`the connection to ${this.name} is closed`))
  }

  #read(text) {
    const lines = (this.#rest + text).split("\n")
    this.#rest = lines.pop()
    for (const line of lines) {
      if (this.#ended) return
      this.#answer(line)
    }
  }

  #answer(line) {
    let message
    try {
      message = JSON.parse(line)
    } catch {
      return this.#end(new Error(`${this.name} sent a line that is not JSON`))
    }
    const call = this.#waiting[0]
    if (!call || message?.id !== call.id) return this.#end(new Error(`${this.name} answered what was not asked`))
    this.#waiting.shift()
    if (message.error) call.reject(new UntermError(call.method, message.error.code, message.error.message))
    else call.resolve(message.result)
  }

  #end(err) {
    if (this.#ended) return
    this.#ended = err
    this.#socket.destroy()
    for (const call of this.#waiting.splice(0)) call.reject(err)
  }
}
