/**
 * Writes records into a file store until it is killed: `node killed-writer.mjs FOLDER ROUND`. Each key is printed when its
 * write has settled. The first field of a record is the hash of its body.
 */
import { createHash, randomBytes } from 'node:crypto'
import { fileStore } from '../dist/index.js'
import { storeRecord } from '../dist/testing/index.js'

const [folder, round] = process.argv.slice(2)
const store = await fileStore({ folder, maxEntries: 10_000 })

async function writeOn(writer) {
  for (let i = 0; ; i++) {
    const body = randomBytes(1 + ((i * 7919) % 300_000))
    const key = `http://a.test/${round}/${writer}/${i}`
    const { generation } = await store.read(key)
    const fields = ['X-Sum', createHash('sha256').update(body).digest('hex')]
    await store.write(storeRecord({ key, body, fields }), generation)
    process.stdout.write(`${key}\n`)
  }
}

for (let writer = 0; writer < 8; writer++) writeOn(writer)
