#!/usr/bin/env node
/** The command `postern-waf`. Exit codes: 0 all is well, 1 something was found, 2 the command was not understood. */
import { ConfigError } from '@postern/core'
import { RuleError } from '../seclang/parse/fault.ts'
import { safe, UsageError } from './output.ts'
import { usage, usageOf } from './usage.ts'

type Command = (args: readonly string[]) => Promise<number>

// Each loads what it needs.
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  check: async () => (await import('./check.ts')).check,
  explain: async () => (await import('./explain.ts')).explain,
  ftw: async () => (await import('./ftw.ts')).ftw,
  cost: async () => (await import('./cost.ts')).cost,
}

async function run([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(usage)
    return name === undefined ? 2 : 0
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) {
    process.stderr.write(`postern-waf: there is no command '${safe(name, 40)}'.\n\n${usage}`)
    return 2
  }
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(usageOf(name))
    return 0
  }
  try {
    return await (await command())(args)
  } catch (error) {
    return told(name, error)
  }
}

function told(name: string, error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`postern-waf ${name}: ${error.message}\nTry postern-waf ${name} --help.\n`)
    return 2
  }
  if (error instanceof RuleError || error instanceof ConfigError) {
    process.stderr.write(`${safe(error.message, 20_000)}\n`)
    // Only `check` has found what it looks for; the others could not begin.
    return name === 'check' ? 1 : 2
  }
  throw error
}

// Whoever reads the output may stop, as `head` does.
process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(0)
  throw error
})

process.exitCode = await run(process.argv.slice(2))
