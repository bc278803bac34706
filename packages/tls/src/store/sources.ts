/** Reads all sources of a store into one list; the first fault of a pair that was named stops it. */
import { stat } from 'node:fs/promises'
import { folderState, readBounded, readFolder } from './folder.ts'
import { type CertificateInput, type Material, readInput } from './material.ts'
import type { CertificateFiles, StoreSettings } from './options.ts'

/** What the sources gave. */
export interface Loaded {
  readonly materials: readonly Material[]
  readonly skipped: readonly { source: string; reason: string }[]
}

/** The most certificates of one store. */
const MOST = 10_000

/**
 * Reads everything anew. Files, texts and functions name their certificates, so a fault in one of them is an error;
 * a folder is a heap, so what cannot be used there is skipped and told.
 * @throws Error that names the source.
 */
export async function readSources(settings: StoreSettings): Promise<Loaded> {
  const materials: Material[] = []
  const skipped: { source: string; reason: string }[] = []
  for (const pair of settings.files) materials.push(await naming(pair.cert, () => readPair(pair)))
  for (const [index, input] of settings.pem.entries()) {
    materials.push(await naming(labelOf(input, `pem[${index}]`), source => readInput(input, source)))
  }
  for (const dir of settings.dirs) {
    const contents = await naming(dir, () => readFolder(dir))
    materials.push(...contents.materials)
    skipped.push(...contents.skipped)
  }
  const { load, issuer } = settings
  for (const [name, give] of [
    ['load', load],
    ['acme', issuer && (() => issuer.load())],
  ] as const) {
    const given = give ? await naming(name, give) : []
    for (const [index, input] of given.entries()) {
      materials.push(await naming(labelOf(input, `${name}[${index}]`), source => readInput(input, source)))
    }
  }
  if (materials.length > MOST) throw new Error(`there are more than ${MOST} certificates`)
  return { materials, skipped }
}

/** A text that changes when a file or folder does. */
export async function sourcesState(settings: StoreSettings): Promise<string> {
  const parts: string[] = []
  for (const dir of settings.dirs) parts.push(await folderState(dir))
  for (const { cert, key, ocsp } of settings.files) {
    for (const path of ocsp === undefined ? [cert, key] : [cert, key, ocsp]) {
      const { ino, size, mtimeMs } = await stat(path)
      parts.push(`${path} ${ino} ${size} ${mtimeMs}`)
    }
  }
  return parts.join('\n')
}

async function readPair(pair: CertificateFiles): Promise<Material> {
  const input: CertificateInput = { cert: await readBounded(pair.cert), key: await readBounded(pair.key) }
  if (pair.passphrase !== undefined) input.passphrase = pair.passphrase
  if (pair.ocsp !== undefined) input.ocsp = await readBounded(pair.ocsp)
  return readInput(input, pair.cert)
}

function labelOf(input: CertificateInput, fallback: string): string {
  return typeof input.label === 'string' ? input.label.slice(0, 200) : fallback
}

async function naming<T>(source: string, read: (source: string) => T | Promise<T>): Promise<T> {
  try {
    return await read(source)
  } catch (error) {
    throw new Error(`${source}: ${(error as Error).message}`)
  }
}
