import { describe, expect, it } from 'vitest'
import { parseWrk } from './wrk.mjs'

const run = (extra: string, p99 = '38.04ms') => `Running 1s test @ http://127.0.0.1:9501/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     4.74ms    8.04ms  77.61ms   89.59%
    Req/Sec    23.91k    14.19k   40.24k    50.00%
  Latency Distribution
     50%    1.51ms
     90%   13.14ms
     99%   ${p99}
  23787 requests in 1.06s, 6.65MB read
${extra}Requests/sec:  22528.00
Transfer/sec:      6.29MB
`

describe('parseWrk', () => {
  it('reads a clean run', () => {
    expect(parseWrk(run(''))).toEqual({
      requests: 23_787,
      rate: 22_528,
      p99: 38.04,
      refused: 0,
      socketErrors: 0,
    })
  })

  it('counts answers that are not 2xx, and socket errors of all kinds', () => {
    const extra =
      '  Socket errors: connect 1, read 20, write 300, timeout 4000\n  Non-2xx or 3xx responses: 17\n'
    expect(parseWrk(run(extra))).toMatchObject({ refused: 17, socketErrors: 4321 })
  })

  for (const [text, milliseconds] of [
    ['950.00us', 0.95],
    ['1.20s', 1200],
    ['1.50m', 90_000],
  ] as const) {
    it(`reads a latency of ${text} as ${milliseconds} ms`, () => {
      expect(parseWrk(run('', text)).p99).toBeCloseTo(milliseconds, 9)
    })
  }

  it('refuses what is no result', () => {
    expect(() => parseWrk('unable to connect to 127.0.0.1:9 Connection refused')).toThrow(
      /Connection refused/,
    )
    expect(() => parseWrk('')).toThrow(/no result/)
  })
})
