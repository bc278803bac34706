/** Child processes that never outlive the bench. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'

const START_LIMIT = 15_000
const STOP_LIMIT = 3000
const running = new Set()

/** A port that nobody listens on now. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

/** Command line that runs on one core; as it was when `core` is null. */
export function pinned(core, command) {
  return core === null ? command : ['taskset', '-c', String(core), ...command]
}

/** Starts a server and waits for its `listening`. The promise is kept with the exit code when it ends before. */
export function start(command, limit = START_LIMIT) {
  const child = launch(command, ['ignore', 'pipe', 'pipe'])
  let output = ''
  let complaint = ''
  child.stderr.on('data', bytes => {
    complaint = (complaint + bytes).slice(-2000)
  })
  return new Promise(resolve => {
    const timer = setTimeout(() => settle(`not listening after ${limit / 1000} s`), limit)
    const settle = failure => {
      clearTimeout(timer)
      resolve({ pid: child.pid, failure, code: child.exitCode })
    }
    child.stdout.on('data', bytes => {
      output = (output + bytes).slice(-2000)
      if (/^listening$/m.test(output)) settle(null)
    })
    child.on('error', error => settle(error.message))
    child.on('close', code => settle(`ended with code ${code}: ${complaint.trim().split('\n').at(-1)}`))
  })
}

/** Runs a command to its end and gives what it printed. */
export function run(command, limit) {
  const child = launch(command, ['ignore', 'pipe', 'pipe'])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', bytes => {
      output += bytes
    })
  }
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => signal(child, 'SIGKILL'), limit)
    child.on('error', reject)
    child.on('close', () => {
      clearTimeout(timer)
      resolve(output)
    })
  })
}

/** Ends all children: asks first, insists later. */
export async function stopAll() {
  const ends = [...running].map(child => new Promise(resolve => child.once('exit', resolve)))
  for (const child of running) signal(child, 'SIGTERM')
  const insist = setTimeout(killAll, STOP_LIMIT)
  await Promise.all(ends)
  clearTimeout(insist)
}

function launch([program, ...args], stdio) {
  // A group of its own: a signal to it reaches the servers that a peer started, too.
  const child = spawn(program, args, { stdio, detached: true })
  running.add(child)
  child.on('error', () => running.delete(child))
  child.on('exit', () => running.delete(child))
  return child
}

function killAll() {
  for (const child of running) signal(child, 'SIGKILL')
}

function signal(child, name) {
  try {
    process.kill(-child.pid, name)
  } catch {
    // It has ended already.
  }
}

process.on('exit', killAll)
