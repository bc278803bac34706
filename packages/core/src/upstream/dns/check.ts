/** Checks the option `dns`. */
import { milliseconds, readOptions, something, type Table } from '../../config/check.ts'
import type { ConfigFault } from '../../errors.ts'
import type { DnsOptions } from '../options.ts'
import { recordResolver, systemResolver } from './resolver.ts'
import type { NameWatchSettings } from './watch.ts'

const RULES: Table<DnsOptions> = {
  resolver: something(
    'a resolver',
    value => value === 'system' || value === 'records' || typeof value === 'function',
    "Write 'system', 'records' or a function.",
  ),
  interval: milliseconds(1),
  minimum: milliseconds(1),
  timeout: milliseconds(1),
}

/** How names are asked for; `null` when they are not. */
export function checkDns(
  given: boolean | DnsOptions | undefined,
  place: string,
  faults: ConfigFault[],
): NameWatchSettings | null {
  if (given === undefined || given === false) return null
  const here = `${place}.dns`
  const options = readOptions<DnsOptions>(here, given === true ? {} : given, RULES, faults)
  const { resolver = 'system', interval = 30_000, timeout = 5000 } = options
  const { minimum = Math.min(1000, interval) } = options
  if (minimum > interval) {
    const fix = 'Choose a shorter time, or a longer interval.'
    faults.push({ place: `${here}.minimum`, problem: `${minimum} is longer than the interval`, fix })
  }
  return {
    resolver: resolver === 'system' ? systemResolver : resolver === 'records' ? recordResolver : resolver,
    interval,
    minimum,
    timeout,
  }
}
