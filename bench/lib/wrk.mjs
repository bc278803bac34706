/** Reads what `wrk --latency` prints. */

const UNITS = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/**
 * Numbers of one run: requests answered, requests a second, the 99th percentile in ms, answers outside 2xx and 3xx,
 * and socket errors of all kinds together.
 * @throws Error when the text is not a finished run's.
 */
export function parseWrk(text) {
  const requests = /^\s*(\d+) requests in /m.exec(text)
  const rate = /^Requests\/sec:\s*([\d.]+)/m.exec(text)
  const p99 = /^\s*99%\s+([\d.]+)(us|ms|s|m|h)\s*$/m.exec(text)
  if (!requests || !rate || !p99) throw new Error(`wrk printed no result: ${text.trim().slice(0, 200)}`)
  const sockets = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)
  return {
    requests: Number(requests[1]),
    rate: Number(rate[1]),
    p99: Number(p99[1]) * UNITS[p99[2]],
    refused: Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0),
    socketErrors: (sockets?.slice(1) ?? []).reduce((sum, count) => sum + Number(count), 0),
  }
}
