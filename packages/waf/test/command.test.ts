/** The command as it is built, run as a process. */
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

// Each test starts processes, which a busy machine takes its time for.
vi.setConfig({ testTimeout: 120_000 })

const command = resolve('packages/waf/dist/cli/main.js')
const built = existsSync(command)
const crs = resolve('../shared/crs')
const suite = resolve('../shared/seclang/ftw.open.jsonl')

interface Ran {
  code: number
  out: string
  err: string
}

function run(args: string[], input = ''): Promise<Ran> {
  return new Promise(done => {
    const child = execFile(process.execPath, [command, ...args], { maxBuffer: 64 << 20 }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code), out, err }),
    )
    child.stdin!.on('error', () => {})
    child.stdin!.end(input)
  })
}

test.runIf(process.env.CI)('the command is built', () => expect(built).toBe(true))

describe.skipIf(!built)('postern-waf (skipped: run npm run build first)', () => {
  let folder = ''
  const file = (name: string): string => join(folder, name)
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'postern-waf-'))
    await writeFile(
      file('rules.conf'),
      `SecRule ARGS:q "@rx evil(\\d)" "id:1,phase:2,deny,status:406,log,capture,msg:'found %{tx.1}',severity:CRITICAL,tag:attack-rce,t:lowercase,chain"
         SecRule REQUEST_METHOD "@streq GET" ""
       SecRule RESPONSE_BODY "@contains secret" "id:2,phase:4,deny,log"`,
    )
    await writeFile(
      file('tests.yaml'),
      `rule_id: 1
tests:
  - test_id: 1
    stages: [{ input: { uri: "/?q=evil1", headers: { Host: localhost } }, output: { log: { expect_ids: [1] } } }]
  - test_id: 2
    stages: [{ input: { uri: "/?q=good", headers: { Host: localhost } }, output: { log: { expect_ids: [1] } } }]
`,
    )
  })
  afterAll(() => rm(folder, { recursive: true }))

  describe.concurrent('what is not understood is told, with exit code 2', () => {
    test.each([
      [[], /^$/, /postern-waf check FILE/],
      [['chek'], /there is no command 'chek'/, /^$/],
      [['\u001b[31m'], /there is no command '\\x1b\[31m'/, /^$/],
      [['constructor'], /there is no command/, /^$/],
      [['check'], /no file is named/, /^$/],
      [['check', '--fix'], /Unknown option '--fix'/, /^$/],
      [['explain'], /--rules is missing/, /^$/],
      [['explain', '--rules', 'x', '--paranoia', '5'], /from 1 to 4, not '5'/, /^$/],
      [['explain', '--rules', 'x', '-H', 'nothing'], /-H takes 'Name: value'/, /^$/],
      [['explain', '--rules', 'x', '--url', 'x'], /begins with/, /^$/],
      [['explain', '--rules', 'x', '-d', 'a', '--data-file', 'b'], /two bodies/, /^$/],
      [['explain', '--rules', 'x', '/nowhere'], /\/nowhere can not be read \(ENOENT\)/, /^$/],
      [['explain', '--rules', 'x', 'a', '--url', '/'], /leave the other options out/, /^$/],
      [['ftw', '--rules', 'x'], /no file with tests/, /^$/],
      [['ftw', '/nowhere.yaml', '--rules', 'x'], /nowhere.yaml/, /^$/],
      [['ftw', '/nowhere/*.yaml', '--rules', 'x'], /no file fits/, /^$/],
      [['cost', '--rules', 'x', '--rounds', 'many'], /whole number from 1 to 100000/, /^$/],
      [['cost', '--rules', 'x', 'a', 'b'], /one file of requests/, /^$/],
    ] as const)('%j', async (args, err, out) => {
      const ran = await run([...args])
      expect(ran.code).toBe(2)
      expect(ran.err).toMatch(err)
      expect(ran.out).toMatch(out)
      expect(ran.err).not.toMatch(/\n {4}at /)
    })
  })

  test('each command has a help text', async () => {
    expect((await run(['--help'])).code).toBe(0)
    const names = ['check', 'explain', 'ftw', 'cost']
    const all = await Promise.all(names.map(name => run([name, '--help'])))
    for (const [i, { code, out, err }] of all.entries()) {
      const name = names[i]!
      expect([code, err]).toEqual([0, ''])
      expect(out).toMatch(new RegExp(`^postern-waf ${name} `))
      expect(out).toContain('Exit code')
      expect(Math.max(...out.split('\n').map(line => line.length))).toBeLessThanOrEqual(120)
    }
  })

  test('check: every mistake with file, line, id and fix', async () => {
    await writeFile(
      file('bad.conf'),
      '\nSecRule ARGZ "@rx a" "id:7"\nSecBogus \u001b[31mOn\nSecRule ARGS "@rx (" "id:8"\n',
    )
    const { code, out } = await run(['check', file('bad.conf')])
    expect(code).toBe(1)
    expect(out).toContain(`${file('bad.conf')}:2 rule 7: variable ARGZ is not known\n    Known are`)
    expect(out).toContain(`${file('bad.conf')}:3: directive SecBogus is not known\n    Check`)
    expect(out).toContain('rule 8: regular expression: missing )')
    expect(out).toMatch(/\n3 mistakes in 1 file\n$/)
    expect(await run(['check', file('rules.conf')])).toMatchObject({ code: 0, out: '2 rules, no mistakes\n' })
    expect((await run(['check', '/nowhere.conf'])).out).toContain('there is no file /nowhere.conf')
  })

  describe('explain', () => {
    const rules = (): string[] => ['explain', '--rules', file('rules.conf')]
    test('says what matched, where, and what was looked for', async () => {
      const { code, out } = await run([...rules(), '--url', '/?q=an EVIL7'])
      expect(code).toBe(1)
      expect(out.split('\n')).toEqual([
        'GET /?q=an%20EVIL7',
        'refused by rule 1 with 406',
        '',
        '1 critical: found 7',
        '  found     REQUEST_METHOD = GET',
        '  looks for @rx evil(\\d)',
        '  in        ARGS:q after lowercase',
        '  and for   @streq GET',
        '  in        REQUEST_METHOD',
        '  tags      attack-rce',
        `  at        ${file('rules.conf')}:1`,
        '',
        expect.stringMatching(/^1 rule matched of \d+$/),
        '',
      ])
    })
    test('takes a raw request, from a file or standard input', async () => {
      const raw = 'GET /?q=evil1 HTTP/1.1\r\nHost: a\r\n\r\n'
      await writeFile(file('request.http'), raw)
      expect((await run([...rules(), file('request.http')])).code).toBe(1)
      expect((await run([...rules(), '-'], raw.replaceAll('\r', ''))).code).toBe(1)
      expect(
        (
          await run(
            [...rules(), '-'],
            'POST / HTTP/1.1\nContent-Type: application/x-www-form-urlencoded\n\nq=evil1',
          )
        ).code,
      ).toBe(0)
      expect(await run([...rules(), '-'], 'nothing')).toMatchObject({ code: 2 })
    })
    test('takes a body, fields and a method', async () => {
      const { code, out } = await run([...rules(), '-d', 'q=evil1', '--method', 'GET', '-H', 'X-A: b'])
      expect([code, out.split('\n')[0]]).toEqual([1, 'GET /'])
      expect((await run([...rules(), '-d', 'q=evil1'])).code).toBe(0)
    })
    test('looks at a reply', async () => {
      await writeFile(file('reply.http'), 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\na secret')
      const { code, out } = await run([...rules(), '--reply', file('reply.http')])
      expect([code, out.includes('refused by rule 2 with 403')]).toEqual([1, true])
    })
    test('nothing from a request reaches the terminal as it is', async () => {
      const { out } = await run([...rules(), '--url', '/?q=%1b[31mevil1%0a%9b'])
      expect(out).toMatch(/^[\n\x20-\x7e]*$/)
    })
    test('mistakes in rules are told', async () => {
      await writeFile(file('bad2.conf'), 'SecBogus On\n')
      const { code, err } = await run(['explain', '--rules', file('bad2.conf')])
      expect([code, err]).toEqual([
        2,
        `${file('bad2.conf')}:1: directive SecBogus is not known. Check its spelling, or leave it out.\n`,
      ])
    })
  })

  describe('ftw', () => {
    test('counts, and names those that failed', async () => {
      const ran = await run(['ftw', file('tests.yaml'), '--rules', file('rules.conf')])
      expect(ran).toEqual({
        code: 1,
        err: '',
        out: 'failed:\n  1-2: rule 1 did not match\n1 passed, 1 failed\n',
      })
      const list = await run([
        'ftw',
        file('tests.yaml'),
        '--rules',
        file('rules.conf'),
        '--list',
        '--only',
        '1-1',
      ])
      expect(list).toEqual({ code: 0, err: '', out: 'passed 1-1\n1 passed, 0 failed\n' })
    })
    test('over sockets, through an edge', async () => {
      const { out } = await run(['ftw', file('tests.yaml'), '--rules', file('rules.conf'), '--edge'])
      expect(out).toBe('failed:\n  1-2: rule 1 did not match\n1 passed, 1 failed\n')
    })
    test.skipIf(!existsSync(suite))(
      'the tests of the Core Rule Set, those of one rule',
      { timeout: 60_000 },
      async () => {
        const { code, out } = await run(['ftw', suite, '--rules', crs, '--only', '942100-'])
        expect([code, /^\d\d? passed, 0 failed\n$/.test(out)]).toEqual([0, true])
      },
    )
  })

  test('cost: a table of rules', async () => {
    const { code, out } = await run([
      'cost',
      '--rules',
      file('rules.conf'),
      '--rounds',
      '5',
      file('tests.yaml'),
    ])
    expect(code).toBe(0)
    expect(out).toMatch(/^2 requests, 5 rounds, \d+ rules\n[\d.]+ us a request/)
    expect(out).toMatch(/\n {9}1 +0\.50 +[\d.]+ +[\d.]+ +[\d.]+% +found %\{tx\.1\}\n/)
    expect((await run(['cost', '--rules', file('rules.conf'), '--rounds', '2'])).code).toBe(0)
    expect((await run(['cost', '--rules', file('rules.conf'), file('rules.conf')])).code).toBe(2)
  })

  test('a reader that stops early is no failure', async () => {
    const child = spawn(process.execPath, [
      command,
      'ftw',
      file('tests.yaml'),
      '--rules',
      file('rules.conf'),
      '--list',
    ])
    let err = ''
    child.stderr.on('data', chunk => {
      err += chunk
    })
    child.stdout.destroy()
    await new Promise(done => child.on('close', done))
    expect(err).toBe('')
  })
})
