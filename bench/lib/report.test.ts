import { describe, expect, it } from 'vitest'
import { report, summarize } from './report.mjs'
import { median, quantile, ratios } from './stats.mjs'
import { fixed, table } from './table.mjs'

const runs = (costs: readonly number[], failed = {}) =>
  costs.map(cpu => ({
    requests: 1000,
    rate: 1e6 / cpu,
    p99: cpu / 10,
    refused: 0,
    socketErrors: 0,
    cpu,
    share: 0.5,
    ...failed,
  }))
const entry = (name: string, costs: readonly number[], rest = {}) => ({
  name,
  skipped: false,
  failure: null,
  runs: runs(costs),
  ...rest,
})

describe('statistics', () => {
  it('finds medians and quantiles without changing the list', () => {
    const list = [9, 1, 5]
    expect(median(list)).toBe(5)
    expect(list).toEqual([9, 1, 5])
    expect(median([4, 1, 2, 3])).toBe(2.5)
    expect(quantile([10, 20, 30, 40, 50], 0.25)).toBe(20)
    expect(quantile([0, 0], 0.5)).toBe(0)
    expect(median([])).toBeNaN()
  })

  it('pairs values of the same round only', () => {
    expect(ratios([10, 30, 7], [5, 10])).toEqual([2, 3])
    expect(ratios([1], [])).toEqual([])
  })
})

describe('table', () => {
  it('aligns names to the left and numbers to the right', () => {
    const text = table([
      ['', 'cost'],
      ['long name', 1],
      ['b', '22.5'],
    ])
    expect(text).toBe('           cost\n---------  ----\nlong name     1\nb          22.5')
  })

  it('shows a dash for what was not measured', () => {
    expect([fixed(1.256, 2), fixed(Number.NaN, 2)]).toEqual(['1.26', '-'])
  })
})

describe('summarize', () => {
  it('compares within a round: a disturbed round changes costs, not ratios', () => {
    const rows = summarize([
      entry('postern', [110, 1100, 220]),
      entry('undici', [100, 1000, 200]),
      entry('postern+baseline', [121, 1210, 242]),
    ])
    expect(rows.map((row: { cpu: number }) => row.cpu)).toEqual([220, 200, 242])
    expect(rows[0]?.toFloor).toBeCloseTo(1.1, 9)
    expect(rows[0]?.share).toBe(0.5)
    expect(rows[1]?.edgeToIt).toBeCloseTo(1.1, 9)
    const text = report(rows)
    expect(text).toContain('postern to undici: 1.100 (goal')
    expect(text).toContain('postern+baseline to postern: 1.100 (goal')
  })

  it('shows no numbers of a row with errors, and says why', () => {
    const bad = entry('undici', [], { runs: runs([100], { refused: 3 }), failure: '3 answers not 2xx' })
    const rows = summarize([entry('postern', [110]), bad])
    expect(rows[1]).toMatchObject({ cpu: Number.NaN, errors: 3, rounds: [] })
    expect(rows[0]?.toFloor).toBeNaN()
    const text = report(rows)
    expect(text).toContain('undici: INVALID, 3 answers not 2xx')
    expect(text).not.toContain('goal')
  })

  it('tells a program that is not installed from one that failed', () => {
    const rows = summarize([entry('caddy', [], { failure: 'caddy is not installed', skipped: true })])
    expect(report(rows)).toContain('caddy: skipped, caddy is not installed')
  })
})
