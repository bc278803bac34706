/**
 * What compression costs over the bare stream of node:zlib: CPU and bytes, for a body that flows without a pause, with the
 * flush that lets nobody wait. `node bench/compress.mjs [rounds]`; ratios of one run are what counts.
 */
import { randomBytes } from 'node:crypto'
import * as zlib from 'node:zlib'
import { compress, pipeline, reply } from '@postern/core'

const rounds = Number(process.argv[2] ?? 7)
const CHUNK = 16_384
const CHUNKS = 300
// Words in random order: text as far as a compressor can tell.
const words = Array.from({ length: 500 }, () =>
  randomBytes(2 + Math.floor(Math.random() * 5)).toString('hex'),
)
const chunks = Array.from({ length: CHUNKS }, () => {
  let text = ''
  while (text.length < CHUNK) text += `${words[Math.floor(Math.random() * words.length)]} `
  return Buffer.from(text.slice(0, CHUNK))
})

/** One chunk a turn of the loop, as a socket gives them. */
function source() {
  return {
    length: null,
    start(sink) {
      let next = 0
      let running = true
      let over = false
      const step = () => {
        if (!running || over) return
        if (next === CHUNKS) return void sink.end()
        if (sink.write(chunks[next++])) setImmediate(step)
        else running = false
      }
      setImmediate(step)
      return {
        pause() {
          running = false
        },
        resume() {
          if (running) return
          running = true
          setImmediate(step)
        },
        cancel() {
          over = true
        },
      }
    },
  }
}

const edge = coding => {
  const app = pipeline()
    .use(compress({ encodings: [coding] }))
    .handle(() => ({ ...reply(200, null, { headers: { 'Content-Type': 'text/plain' } }), body: source() }))
  return async () => (await app.inject({ headers: { 'Accept-Encoding': coding } })).body.length
}

const bare = make => () =>
  new Promise((resolve, reject) => {
    const stream = make()
    let bytes = 0
    stream.on('data', chunk => {
      bytes += chunk.length
    })
    stream.on('end', () => resolve(bytes))
    const flow = source().start({
      write: chunk => stream.write(chunk),
      end: () => stream.end(),
      fail: reject,
    })
    stream.on('drain', () => flow.resume())
  })

async function cpu(run) {
  const before = process.cpuUsage()
  const bytes = await run()
  const { user, system } = process.cpuUsage(before)
  return { ms: (user + system) / 1000, bytes }
}

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN } = zlib.constants
const cases = {
  gzip: () => zlib.createGzip({ level: 5 }),
  br: () => zlib.createBrotliCompress({ params: { [BROTLI_PARAM_QUALITY]: 4, [BROTLI_PARAM_LGWIN]: 18 } }),
}
const median = list => [...list].sort((a, b) => a - b)[list.length >> 1]
for (const [coding, make] of Object.entries(cases)) {
  const [ours, theirs] = [edge(coding), bare(make)]
  const ratios = []
  let sizes = ''
  for (let round = 0; round <= rounds; round++) {
    const pair =
      round % 2 ? [await cpu(ours), await cpu(theirs)] : [await cpu(theirs), await cpu(ours)].reverse()
    if (round === 0) continue
    ratios.push(pair[0].ms / pair[1].ms)
    sizes = `${pair[0].bytes} / ${pair[1].bytes} bytes of ${CHUNK * CHUNKS}`
  }
  console.log(`${coding}: CPU ${median(ratios).toFixed(2)} of the bare stream, ${sizes}`)
}
