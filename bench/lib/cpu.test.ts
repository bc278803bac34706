import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { parseStat, treeMicroseconds, treeTicks } from './cpu.mjs'

const line = (pid: number, name: string, parent: number, ticks: readonly number[]) =>
  `${pid} (${name}) S ${parent} 1 1 0 -1 4194560 1 0 0 0 ${ticks.join(' ')} 20 0 11 0 9 1 1\n`

describe('parseStat', () => {
  for (const name of ['node', 'tmux: server', 'a) S 1 (b', '']) {
    it(`is not misled by a program named '${name}'`, () => {
      expect(parseStat(line(42, name, 7, [1, 20, 300, 4000]))).toEqual({ pid: 42, parent: 7, ticks: 4321 })
    })
  }
})

describe('treeTicks', () => {
  const stats = [
    { pid: 1, parent: 0, ticks: 1000 },
    { pid: 5, parent: 4, ticks: 3 },
    { pid: 2, parent: 1, ticks: 10 },
    { pid: 4, parent: 2, ticks: 20 },
    { pid: 3, parent: 1, ticks: 500 },
  ]

  it('adds a process and all below it, and nothing else', () => {
    expect(treeTicks(2, stats)).toBe(33)
    expect(treeTicks(5, stats)).toBe(3)
    expect(treeTicks(1, stats)).toBe(1533)
  })

  it('refuses a process that has ended', () => {
    expect(() => treeTicks(9, stats)).toThrow('process 9 has ended')
  })
})

describe.runIf(process.platform === 'linux')('treeMicroseconds', () => {
  it('sees the work of a child', async () => {
    const busy = 'const end = process.cpuUsage().user + 3e5; while (process.cpuUsage().user < end);'
    const before = treeMicroseconds(process.pid)
    const child = spawn(process.execPath, ['-e', `${busy} console.log('done'); setInterval(() => {}, 1000)`])
    await once(child.stdout, 'data')
    const below = treeMicroseconds(child.pid)
    expect(below).toBeGreaterThanOrEqual(250_000)
    expect(treeMicroseconds(process.pid) - before).toBeGreaterThanOrEqual(below)
    child.kill()
    await once(child, 'exit')
  })
})
