/** Reads a folder of PEM files and matches keys to certificates by their public keys. File names do not matter. */
import type { KeyObject, X509Certificate } from 'node:crypto'
import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pemBlocks } from '../der/pem.ts'
import { isRoot, type Material, makeMaterial, publicKeyId, readChain, readKey } from './material.ts'

const ENDINGS = /\.(?:pem|crt|cer|cert|key|chain)$/i
const STAPLE = /\.ocsp$/i
/** Bounds of what is read. */
const MOST_FILES = 5000
const MOST_BYTES = 1 << 20
const DEEPEST = 3

/** What a folder gave. */
export interface FolderContents {
  readonly materials: readonly Material[]
  /** Files that could not be used, and why. */
  readonly skipped: readonly { source: string; reason: string }[]
}

interface Found {
  readonly source: string
  readonly chain: X509Certificate[]
}

/**
 * All certificates of a folder and its subfolders (three levels) that have a key there. A longer chain for the same
 * certificate wins, missing intermediates are taken from the folder, and `NAME.ocsp` beside `NAME.pem` is stapled.
 * @throws Error when the folder cannot be read.
 */
export async function readFolder(dir: string): Promise<FolderContents> {
  const files = await listFiles(dir)
  const skipped: { source: string; reason: string }[] = []
  const keys = new Map<string, KeyObject>()
  const chains: Found[] = []
  const staples = new Map<string, Uint8Array>()
  for (const source of files) {
    try {
      const bytes = await readBounded(source)
      if (STAPLE.test(source)) staples.set(source.replace(STAPLE, ''), bytes)
      else readBlocks(bytes.toString('latin1'), source, keys, chains)
    } catch (error) {
      skipped.push({ source, reason: (error as Error).message })
    }
  }
  const pool = chains.flatMap(found => found.chain).filter(certificate => certificate.ca)
  const byLeaf = new Map<string, Found>()
  for (const found of chains) {
    const id = found.chain[0]!.fingerprint256
    if ((byLeaf.get(id)?.chain.length ?? 0) < found.chain.length) byLeaf.set(id, found)
  }
  const materials: Material[] = []
  const used = new Set<string>()
  for (const { source, chain } of byLeaf.values()) {
    const leaf = chain[0]!
    const id = publicKeyId(leaf.publicKey)
    const key = keys.get(id)
    // Intermediates and roots lie here without keys, as they should.
    if (!key && leaf.ca) continue
    try {
      if (!key) throw new Error('there is no key for it in the folder')
      used.add(id)
      const staple = staples.get(source.replace(ENDINGS, '')) ?? staples.get(source) ?? null
      materials.push(makeMaterial(complete(chain, pool), key, source, staple))
    } catch (error) {
      skipped.push({ source, reason: (error as Error).message })
    }
  }
  const orphans = [...keys.keys()].filter(id => !used.has(id)).length
  if (orphans > 0) skipped.push({ source: dir, reason: `${orphans} keys have no certificate here` })
  return { materials, skipped }
}

/** Names, sizes and times of the files: when this text changes, the folder has. */
export async function folderState(dir: string): Promise<string> {
  const lines: string[] = []
  for (const file of await listFiles(dir)) {
    const { ino, size, mtimeMs } = await stat(file)
    lines.push(`${file} ${ino} ${size} ${mtimeMs}`)
  }
  return lines.join('\n')
}

/** A file's bytes, if it is no longer than any certificate or key. @throws Error that names the reason. */
export async function readBounded(path: string): Promise<Buffer> {
  const { size } = await stat(path)
  if (size > MOST_BYTES) throw new Error(`it is longer than ${MOST_BYTES} bytes`)
  return readFile(path)
}

async function listFiles(dir: string, depth = 1, found: string[] = []): Promise<string[]> {
  for (const name of (await readdir(dir)).sort()) {
    // `..data` and the like: how Kubernetes swaps a whole folder; its files are linked beside it.
    if (name.startsWith('.')) continue
    const path = join(dir, name)
    const entry = await stat(path).catch(() => null)
    if (entry?.isFile() && (ENDINGS.test(name) || STAPLE.test(name))) found.push(path)
    else if (entry?.isDirectory() && depth < DEEPEST && !(await lstat(path)).isSymbolicLink()) {
      await listFiles(path, depth + 1, found)
    }
    if (found.length > MOST_FILES) throw new Error(`${dir} holds more than ${MOST_FILES} files`)
  }
  return found
}

function readBlocks(text: string, source: string, keys: Map<string, KeyObject>, chains: Found[]): void {
  const blocks = pemBlocks(text)
  for (const block of blocks) {
    if (!block.label.endsWith('PRIVATE KEY')) continue
    const key = readKey(block.text)
    keys.set(publicKeyId(key), key)
  }
  const chain = readChain(text)
  if (chain.length > 0) chains.push({ source, chain })
  else if (blocks.length === 0) throw new Error('it holds no PEM block')
}

/** Adds intermediates of the pool until an issuer is missing or a root is reached. */
function complete(chain: readonly X509Certificate[], pool: readonly X509Certificate[]): X509Certificate[] {
  const whole = [...chain]
  for (let last = whole.at(-1)!; whole.length < 10; last = whole.at(-1)!) {
    if (last.checkIssued(last)) break
    const issuer = pool.find(one => last.checkIssued(one) && last.verify(one.publicKey))
    if (!issuer || isRoot(issuer)) break
    whole.push(issuer)
  }
  return whole
}
