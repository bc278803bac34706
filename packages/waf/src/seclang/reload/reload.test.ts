import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { InspectRequest } from '../../engine/types.ts'
import { type ReloadEvent, type RuleEngine, seclang } from '../index.ts'
import { RuleError } from '../parse/fault.ts'

const rule = (id: number, word: string): string =>
  `SecRule ARGS "@contains ${word}" "id:${id},phase:1,deny,log"\n`
const get = (word: string): InspectRequest => ({ method: 'GET', target: `/?a=${word}`, headers: [] })

async function folder(files: Record<string, string> = {}): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'postern-rules-'))
  onTestFinished(() => rm(path, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text)
  return path
}

async function watched(files: string[]): Promise<{ engine: RuleEngine; events: ReloadEvent[] }> {
  const events: ReloadEvent[] = []
  const engine = await seclang({
    files,
    watch: { interval: 20 },
    onReload: event => void events.push(event),
  })
  onTestFinished(() => engine.close())
  return { engine, events }
}

const blocks = (engine: RuleEngine, word: string): boolean => engine.inspect(get(word)).blocked

test('a file that changes, appears or goes is seen', async () => {
  const at = await folder({ 'a.conf': rule(1, 'one') })
  const { engine, events } = await watched([join(at, '*.conf')])
  expect([blocks(engine, 'one'), blocks(engine, 'two')]).toEqual([true, false])
  await writeFile(join(at, 'a.conf'), rule(1, 'two'))
  await vi.waitFor(() => expect([blocks(engine, 'one'), blocks(engine, 'two')]).toEqual([false, true]))
  await writeFile(join(at, 'b.conf'), rule(2, 'three'))
  await vi.waitFor(() => expect(blocks(engine, 'three')).toBe(true))
  expect(engine.rules).toBe(8)
  await rm(join(at, 'a.conf'))
  await vi.waitFor(() => expect(blocks(engine, 'two')).toBe(false))
  expect(events.every(({ error }) => error === null)).toBe(true)
})

test('a rename over a file, a data file and an included one are seen', async () => {
  const at = await folder({
    'main.conf': `Include ${'sub/*.conf'}\nSecRule ARGS "@pmFromFile words.data" "id:1,phase:1,deny"`,
    'words.data': 'one',
  })
  await mkdir(join(at, 'sub'))
  await writeFile(join(at, 'sub/x.conf'), rule(2, 'inner'))
  const { engine } = await watched([join(at, 'main.conf')])
  expect([blocks(engine, 'one'), blocks(engine, 'inner')]).toEqual([true, true])
  await writeFile(join(at, '.new'), 'two')
  await rename(join(at, '.new'), join(at, 'words.data'))
  await vi.waitFor(() => expect([blocks(engine, 'one'), blocks(engine, 'two')]).toEqual([false, true]))
  await writeFile(join(at, 'sub/x.conf'), rule(2, 'other'))
  await vi.waitFor(() => expect([blocks(engine, 'inner'), blocks(engine, 'other')]).toEqual([false, true]))
})

test('links that are swapped, as Kubernetes does it, are seen', async () => {
  const at = await folder()
  for (const [version, word] of [
    ['v1', 'one'],
    ['v2', 'two'],
  ] as const) {
    await mkdir(join(at, version))
    await writeFile(join(at, version, 'a.conf'), rule(1, word))
  }
  await symlink('v1', join(at, '..data'))
  await symlink('..data/a.conf', join(at, 'a.conf'))
  const { engine } = await watched([join(at, '*.conf')])
  expect(blocks(engine, 'one')).toBe(true)
  await symlink('v2', join(at, '..new'))
  await rename(join(at, '..new'), join(at, '..data'))
  await vi.waitFor(() => expect([blocks(engine, 'one'), blocks(engine, 'two')]).toEqual([false, true]))
})

test('a faulty set is refused with all its faults, once, and the running one stays', async () => {
  const at = await folder({ 'a.conf': rule(1, 'one') })
  const { engine, events } = await watched([join(at, 'a.conf')])
  await writeFile(join(at, 'a.conf'), `${rule(1, 'two')}SecBogus On\nSecRule ARGZ "@rx a" "id:3"\n`)
  await vi.waitFor(() => expect(events).toHaveLength(1))
  expect(events[0]!.error).toBeInstanceOf(RuleError)
  expect((events[0]!.error as RuleError).faults.map(({ line }) => line)).toEqual([2, 3])
  await new Promise(resolve => setTimeout(resolve, 200))
  expect(events).toHaveLength(1)
  expect([blocks(engine, 'one'), blocks(engine, 'two')]).toEqual([true, false])
  await writeFile(join(at, 'a.conf'), rule(1, 'two'))
  await vi.waitFor(() => expect(blocks(engine, 'two')).toBe(true))
  expect(events.at(-1)).toEqual({ error: null, rules: 7 })
})

test('a set that can not be read is refused; what is missing comes back', async () => {
  const at = await folder({ 'a.conf': rule(1, 'one') })
  const { engine, events } = await watched([join(at, 'a.conf')])
  await rm(join(at, 'a.conf'))
  await vi.waitFor(() => expect(events).toHaveLength(1))
  expect(String(events[0]!.error)).toContain('there is no file')
  expect(blocks(engine, 'one')).toBe(true)
  await writeFile(join(at, 'a.conf'), rule(1, 'two'))
  await vi.waitFor(() => expect(blocks(engine, 'two')).toBe(true))
})

test('a file that changes all the time is loaded after a while', async () => {
  const at = await folder({ 'a.conf': rule(1, 'one') })
  const { events } = await watched([join(at, 'a.conf')])
  let n = 0
  const writing = setInterval(() => void writeFile(join(at, 'a.conf'), rule(1, `word${n++}`)), 5)
  try {
    await vi.waitFor(() => expect(events.length).toBeGreaterThan(0), 5000)
  } finally {
    clearInterval(writing)
  }
})

test('an exchange ends with the rules that it began with; counters live on', async () => {
  const at = await folder({
    'a.conf': `SecAction "id:9,phase:1,pass,nolog,initcol:ip=%{REMOTE_ADDR},setvar:ip.n=+1"
      SecRule IP:n "@ge 3" "id:8,phase:1,deny,log"
      SecRule RESPONSE_STATUS "@streq 200" "id:1,phase:3,deny,log"`,
  })
  const engine = await seclang({ files: [join(at, 'a.conf')] })
  const following = engine.follow(get('x'))
  await writeFile(
    join(at, 'a.conf'),
    `SecAction "id:9,phase:1,pass,nolog,initcol:ip=%{REMOTE_ADDR},setvar:ip.n=+1"
     SecRule IP:n "@ge 3" "id:8,phase:1,deny,log"`,
  )
  await engine.reload()
  expect(following.replyHead(200, [])).toBe(true)
  const later = engine.follow(get('x'))
  expect([later.refused, later.replyHead(200, [])]).toEqual([false, false])
  expect(engine.follow(get('x')).refused).toBe(true)
})

test('reload() rejects with the faults, and later calls see later files', async () => {
  const at = await folder({ 'a.conf': rule(1, 'one') })
  const engine = await seclang({ files: [join(at, 'a.conf')] })
  await writeFile(join(at, 'a.conf'), 'SecBogus On')
  await expect(engine.reload()).rejects.toBeInstanceOf(RuleError)
  expect(blocks(engine, 'one')).toBe(true)
  await writeFile(join(at, 'a.conf'), rule(1, 'two'))
  await Promise.all([engine.reload(), engine.reload()])
  expect(blocks(engine, 'two')).toBe(true)
})

test('close() ends the watching', async () => {
  const at = await folder({ 'a.conf': rule(1, 'one') })
  const { engine, events } = await watched([join(at, 'a.conf')])
  engine.close()
  engine.close()
  await writeFile(join(at, 'a.conf'), rule(1, 'two'))
  await new Promise(resolve => setTimeout(resolve, 150))
  expect([events, blocks(engine, 'one')]).toEqual([[], true])
})

test('without a call-back a failed reload is a warning', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  try {
    const at = await folder({ 'a.conf': rule(1, 'one') })
    const engine = await seclang({ files: [join(at, 'a.conf')], watch: { interval: 20 } })
    onTestFinished(() => engine.close())
    await writeFile(join(at, 'a.conf'), 'SecBogus On')
    await vi.waitFor(() => expect(warned).toHaveBeenCalled())
    expect(String(warned.mock.calls[0]![0])).toContain('a.conf:1: directive SecBogus is not known')
  } finally {
    warned.mockRestore()
  }
})
