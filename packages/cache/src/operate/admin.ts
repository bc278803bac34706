/** A handler that shows and purges a cache. It lets everybody in: put a gate in front of it. */
import { type Handler, type Reply, refuse, reply, type Source } from '@postern/core'
import type { Cache } from '../cache.ts'
import type { PurgeOptions } from './purge.ts'

/** Most bytes of a command. */
const MOST_BYTES = 65_536
/** Most purges in one command. */
const MOST_PURGES = 1000

/** What a command may hold. */
interface Command extends PurgeOptions {
  urls?: unknown
  prefixes?: unknown
  tags?: unknown
  all?: unknown
}

/**
 * `GET` tells what is held; `POST` with JSON purges: `{"urls": [], "prefixes": [], "tags": [], "all": true, "soft": true}`,
 * any of them. Answers with the number of stored responses that were reached in this process, when all is purged.
 *
 * The handler has no gate of its own. `Content-Type: application/json` is asked for, so that no page of another site can
 * send a command from a browser inside.
 * @example
 * .route('/cache', r => r.use(ipAccess({ allow: ['10.0.0.0/8'] })).handle(cacheAdmin(shared)))
 */
export function cacheAdmin(cache: Pick<Cache, 'purge' | 'stats'>): Handler {
  return async function cacheAdminHandler({ request, body }): Promise<Reply> {
    if (request.method === 'GET' || request.method === 'HEAD') return json(200, cache.stats())
    if (request.method !== 'POST') return refuse(405, 'method-not-allowed', { Allow: 'GET, HEAD, POST' })
    const type = request.headers.get('content-type') ?? ''
    if (!/^application\/json\s*(?:;|$)/i.test(type)) return refuse(415, 'json-expected')
    const text = body === null ? '' : await read(body)
    if (text === null) return refuse(413, 'command-too-large')
    const command = parse(text)
    if (typeof command === 'string') return json(400, { error: command })
    try {
      return json(200, { purged: await run(cache, command) })
    } catch (error) {
      if (error instanceof TypeError) return json(400, { error: error.message })
      throw error
    }
  }
}

async function run({ purge }: Pick<Cache, 'purge'>, command: Command): Promise<number> {
  const options: PurgeOptions = { soft: command.soft === true }
  const list = (value: unknown): string[] => (value as string[] | undefined) ?? []
  let purged = command.all === true ? await purge.all(options) : 0
  for (const tag of list(command.tags)) purged += await purge.tag(tag, options)
  for (const url of list(command.urls)) purged += await purge.url(url, options)
  for (const url of list(command.prefixes)) purged += await purge.prefix(url, options)
  return purged
}

/** The command, or what is wrong with it. Nothing runs before all of it is understood. */
function parse(text: string): Command | string {
  let command: unknown
  try {
    command = JSON.parse(text)
  } catch {
    return 'it is no JSON'
  }
  if (typeof command !== 'object' || command === null || Array.isArray(command)) return 'it is no JSON object'
  let purges = 0
  for (const [name, value] of Object.entries(command)) {
    if (name === 'all' || name === 'soft') {
      if (typeof value !== 'boolean') return `${name} is neither true nor false`
    } else if (name === 'urls' || name === 'prefixes' || name === 'tags') {
      if (!Array.isArray(value) || value.some(one => typeof one !== 'string' || one === ''))
        return `${name} is no list of texts`
      purges += value.length
    } else return 'only urls, prefixes, tags, all and soft are known'
  }
  const { all } = command as Command
  if (purges === 0 && all !== true) return 'it names nothing to purge'
  return purges > MOST_PURGES ? `more than ${MOST_PURGES} purges` : (command as Command)
}

function read(source: Source): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let bytes = 0
    const flow = source.start({
      write(chunk) {
        bytes += chunk.length
        if (bytes <= MOST_BYTES) chunks.push(chunk)
        else resolve(null)
        return bytes <= MOST_BYTES
      },
      end: () => resolve(Buffer.concat(chunks).toString('utf8')),
      fail: reject,
    })
    void flow
  })
}

function json(status: number, value: unknown): Reply {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  return reply(status, `${JSON.stringify(value)}\n`, { headers })
}
