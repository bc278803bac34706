/**
 * The shared corpus. Patterns were tuned on the half of it whose ids hash to an even number and then checked on the other half:
 * both are held to the same bars.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type CorpusLine, readCorpus, runCorpus } from '../testing/corpus.ts'
import { signatures } from './signatures.ts'

const FILE = '../shared/waf-corpora/attacks-and-texts.jsonl'
const there = existsSync(FILE)
const half = (line: CorpusLine): number => createHash('sha256').update(line.id).digest()[0]! & 1

const bars = [
  ['balanced', 0.85, 0.03],
  ['aggressive', 0.93, 0.12],
] as const

describe.skipIf(!there && !process.env.CI)(`corpus (${there ? FILE : 'not there'})`, () => {
  describe.each(bars)('%s', (profile, attacks, texts) => {
    it.each([0, 1])('half %i', number => {
      const lines = readCorpus(FILE).filter(line => half(line) === number)
      const result = runCorpus(signatures({ profile }), lines)
      expect(result.attacks.total).toBeGreaterThan(100)
      expect(result.attacks.blocked / result.attacks.total).toBeGreaterThanOrEqual(attacks)
      expect(result.texts.total).toBeGreaterThan(20)
      expect(result.texts.blocked / result.texts.total).toBeLessThanOrEqual(texts)
    })
  })
})
