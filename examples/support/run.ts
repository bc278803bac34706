/** Runs an example as a process, and curl lines as a shell would. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const pathOf = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url))
const running = new Set<ChildProcess>()

/** An example that has said where it listens. */
export interface Example {
  readonly url: string
  readonly process: ChildProcess
  /** What it has written to stdout so far. */
  output(): string
  /** Resolves when stdout holds `text`. */
  printed(text: string | RegExp): Promise<void>
  /** Resolves to its exit code (null after a signal) and stderr. */
  readonly ended: Promise<{ code: number | null; errors: string }>
}

/** Starts `node examples/NAME ARGS…` with a free port. */
export function launch(name: string, ...args: readonly string[]): Omit<Example, 'url'> {
  const child = spawn(process.execPath, [pathOf(name), ...args], { env: { ...process.env, PORT: '0' } })
  running.add(child)
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    errors += text
  })
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child)
    return { code: code as number | null, errors }
  })
  async function printed(text: string | RegExp): Promise<void> {
    const found = (): boolean => (typeof text === 'string' ? output.includes(text) : text.test(output))
    while (!found()) {
      const more = once(child.stdout, 'data').then(() => true)
      const over = ended.then(() => false)
      if (!(await Promise.race([more, over])) && !found()) {
        throw new Error(`${name} ended before it printed ${text}\n${output}\n${errors}`)
      }
    }
  }
  return { process: child, output: () => output, printed, ended }
}

/** Starts an example and waits until it listens. */
export async function start(name: string, ...args: readonly string[]): Promise<Example> {
  const example = launch(name, ...args)
  await example.printed(/https?:\/\/(localhost|127\.0\.0\.1):\d+\/?\n[\s\S]*$/)
  const [url] = example.output().match(/^(?:listening on | {2})https?:\/\/\S+?:\d+(?=\/?$)/m) ?? []
  if (url === undefined) throw new Error(`no URL in: ${example.output()}`)
  return { ...example, url: url.replace('listening on', '').trim() }
}

/** Ends what is still running. */
export function stopAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** True when there is a curl that speaks HTTP/2. */
export const hasCurl: boolean = (() => {
  try {
    return execFileSync('curl', ['--version'], { encoding: 'utf8' }).includes('HTTP2')
  } catch {
    return false
  }
})()

/** The curl lines at the end of an example, for this base URL. What follows three spaces is a remark. */
export function curlLinesOf(name: string, base: string): string[] {
  const lines = readFileSync(pathOf(name), 'utf8').trimEnd().split('\n')
  const last = lines.slice(lines.findLastIndex(line => !line.startsWith('// ')) + 1)
  return last.map(line => (line.slice(3).split('   ')[0] ?? '').replace(/https?:\/\/[\w.]+:\d+/g, base))
}

/** Runs a line in the shell; gives what it printed. */
export async function shell(line: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', line], { maxBuffer: 1 << 20 })
  return stdout
}
