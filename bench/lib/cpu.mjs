/** CPU time of a process and its descendants, from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** Microseconds a tick: Linux shows programs 100 ticks a second, whatever the kernel counts in. */
const TICK = 10_000

/** CPU time of `root` and of all below it, in µs, up to now. */
export function treeMicroseconds(root) {
  return treeTicks(root, readStats()) * TICK
}

/** One line of /proc/PID/stat. The ticks include those of children that ended and were waited for. */
export function parseStat(line) {
  // The program's name may hold spaces and parentheses; the numbers follow the last one.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number)
  return {
    pid: Number.parseInt(line, 10),
    parent: Number(fields[1]),
    ticks: user + system + childUser + childSystem,
  }
}

/** Sum over `root` and its descendants. @throws Error when `root` is gone. */
export function treeTicks(root, stats) {
  const top = stats.find(stat => stat.pid === root)
  if (top === undefined) throw new Error(`process ${root} has ended`)
  const children = groupByParent(stats)
  let ticks = 0
  const open = [top]
  for (const stat of open) {
    ticks += stat.ticks
    open.push(...(children.get(stat.pid) ?? []))
  }
  return ticks
}

function readStats() {
  const stats = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      stats.push(parseStat(readFileSync(`/proc/${name}/stat`, 'latin1')))
    } catch {
      // It ended between the two calls.
    }
  }
  return stats
}

function groupByParent(stats) {
  const groups = new Map()
  for (const stat of stats) {
    const group = groups.get(stat.parent)
    if (group) group.push(stat)
    else groups.set(stat.parent, [stat])
  }
  return groups
}
