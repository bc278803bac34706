/** What all peers share: their flags, the word `listening`, and the way they end. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { httpOrigin, orUsage, parseFlags, whole } from './flags.mjs'

/** Exit code that says: the program is not installed. */
export const SKIPPED = 3

/** Reads `--port P --origin URL`, and `--tls yes` for those that can. */
export function peerFlags() {
  const usage = `usage: node bench/peers/${basename(process.argv[1])} --port P --origin URL [--tls yes]`
  return orUsage(usage, () => {
    const flags = parseFlags(process.argv.slice(2), { port: undefined, origin: undefined, tls: 'no' })
    const port = whole('port', flags.port, 1, 65_535)
    return { port, origin: httpOrigin('origin', flags.origin), tls: flags.tls === 'yes' }
  })
}

/** Lets a node:http server listen and end with the process. */
export function serve(server, port) {
  server.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'))
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0))
}

/**
 * Runs a server that is not ours in the foreground, with a config in a folder that is removed at the end.
 * @example runBinary({ port, file: 'nginx.conf', config: dir => '…', command: path => ['nginx', '-c', path] })
 */
export function runBinary({ port, file, config, command, env }) {
  const dir = mkdtempSync(join(tmpdir(), 'postern-bench-'))
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, file)
  writeFileSync(path, config(dir))
  const [program, ...args] = command(path, dir)
  const child = spawn(program, args, {
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin`, HOME: dir, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let stopping = false
  child.on('error', error => {
    process.stderr.write(error.code === 'ENOENT' ? `${program} is not installed\n` : `${error.message}\n`)
    process.exit(error.code === 'ENOENT' ? SKIPPED : 1)
  })
  child.on('exit', code => process.exit(stopping ? 0 : code || 1))
  for (const signal of ['SIGTERM', 'SIGINT']) {
    // Not only once: a second signal would end this process before it has cleaned up.
    process.on(signal, () => {
      stopping = true
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), 2000).unref()
    })
  }
  announce(port)
}

function announce(port) {
  const socket = connect(port, '127.0.0.1', () => {
    socket.destroy()
    process.stdout.write('listening\n')
  })
  socket.on('error', () => setTimeout(announce, 50, port))
}
