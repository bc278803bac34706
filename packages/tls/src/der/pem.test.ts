import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { breaksOff, pemBlocks, toPem } from './pem.ts'

test('finds blocks among other text, in order', () => {
  const [one, two] = [toPem('CERTIFICATE', randomBytes(100)), toPem('EC PRIVATE KEY', randomBytes(10))]
  const blocks = pemBlocks(`Subject: x\n${one}\r\n# two\n${two.replaceAll('\n', '\r\n')}rest`)
  expect(blocks.map(block => block.label)).toEqual(['CERTIFICATE', 'EC PRIVATE KEY'])
  expect(blocks[0]!.text).toBe(one)
})

test('finds none in what is none', () => {
  expect(pemBlocks('-----BEGIN CERTIFICATE-----\nAAAA\n-----END OTHER-----\n')).toEqual([])
  expect(pemBlocks('-----BEGIN CERTIFICATE-----\n<script>\n-----END CERTIFICATE-----\n')).toEqual([])
})

test('a megabyte of openings takes no time that grows with its square', () => {
  const text = '-----BEGIN CERTIFICATE-----\n'.repeat(40_000)
  const start = process.cpuUsage()
  expect(pemBlocks(text)).toEqual([])
  // A quadratic search would take minutes; the bound is generous.
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(5000)
})

test('a text that breaks off inside a block is known, wherever it does', () => {
  const one = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  for (const whole of ['', 'text', one, one + one, `${one}text`]) expect(breaksOff(whole)).toBe(false)
  for (const cut of [14, 30, 35, 45, one.length - 2]) expect(breaksOff(one + one.slice(0, cut))).toBe(true)
})
