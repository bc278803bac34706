import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { builtIn, fromFile, PLACES } from './crs-attacks.mjs'
import { BROWSER, get, luaScript, numbers, post, strangers } from './crs-requests.mjs'

test('no two requests have the same values, and a seed gives the same ones again', () => {
  const next = numbers(1)
  const made = Array.from({ length: 200 }, (_, i) => [get(next, i).target, String(post(next, i).body)]).flat()
  expect(new Set(made).size).toBe(400)
  expect(get(numbers(1), 0)).toEqual(get(numbers(1), 0))
})

test('bodies are JSON of half a kilobyte', () => {
  const next = numbers(2)
  for (let i = 0; i < 50; i++) {
    const { body, headers } = post(next, i)
    JSON.parse(String(body))
    expect(body.length).toBeGreaterThan(450)
    expect(body.length).toBeLessThan(600)
    expect(headers).toContainEqual(['Content-Length', String(body.length)])
  }
})

test('a stranger has the names of a browser, and values of its own', () => {
  const [one, other] = [strangers(numbers(3), BROWSER), strangers(numbers(4), BROWSER)]
  expect(one.map((field: string[]) => field[0])).toEqual(BROWSER.map(([name]) => name))
  expect(one).not.toEqual(other)
})

test('scripts for wrk hold no quotes or new lines that would end a text', () => {
  for (const kind of ['get', 'post']) {
    const script = luaScript(kind)
    expect(script).toContain('wrk.format')
    const format = /string\.format\("((?:[^"\\]|\\.)*)", (.*)\)\)/.exec(script)
    expect(format![1]!.split('%d').length - 1).toBe(format![2]!.split(', ').length)
  }
})

test('texts have the size that was asked for, in each place not more on the wire', () => {
  for (const [name, text] of builtIn(1000)) {
    expect(text.length, name).toBe(1000)
    for (const make of Object.values(PLACES)) {
      const { target, body, headers } = make(text)
      const wire = target.length + (body?.length ?? 0)
      expect(wire, name).toBeLessThan(1200)
      expect(headers.length).toBeGreaterThan(2)
    }
  }
})

test('files of attacks are read without being run', () => {
  const file = join(tmpdir(), `postern-attacks-${process.pid}.txt`)
  writeFileSync(file, "1\tpolynomial\t'a\\x00'.repeat(2) + '\\n'\n2\t-\t'b'\n")
  expect(fromFile(file, 100)).toEqual([
    ['rule 1', 'a\0a\0\n'],
    ['rule 2', 'b'],
  ])
})
