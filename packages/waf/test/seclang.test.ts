/** The OWASP Core Rule Set behind a real socket. */
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, createServer as createH2c } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { attach, pipeline, reply } from '@postern/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seclang, type WafReport, waf } from '../src/index.ts'

const folder = '../shared/crs'
const there = existsSync(`${folder}/rules`)
const BROWSER = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'accept-language': 'en-US,en;q=0.5',
}

it('rules see the host of an HTTP/2 request in Host', async () => {
  const engine = await seclang({
    rules: 'SecRule REQUEST_HEADERS:Host "!@streq good.test" "id:1,phase:1,deny,log"',
    recommended: false,
  })
  const server = createH2c()
  const edge = attach(
    server as never,
    pipeline()
      .use(waf(engine))
      .handle(() => reply(200, 'reached')),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const status = (authority: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':path': '/', ':authority': authority }, { endStream: true })
      stream
        .on('response', head => resolve(head[':status']))
        .on('error', reject)
        .resume()
    })
  expect(await status('good.test')).toBe(200)
  expect(await status('evil.test')).toBe(403)
  session.close()
  await edge.drain(1000)
})

describe.skipIf(!there)('the Core Rule Set at an edge (skipped: ../shared/crs is not there)', () => {
  let url = ''
  let stop = async (): Promise<void> => {}
  const reports: (WafReport | null)[] = []

  beforeAll(async () => {
    const crs = await seclang({
      files: [`${folder}/crs-setup.conf.example`, `${folder}/rules/*.conf`],
      set: { paranoia: 1 },
    })
    const app = pipeline()
      .use(waf(crs))
      .use({ name: 'note', onDone: cx => void reports.push((cx.state as { waf: WafReport | null }).waf) })
      .handle(() => reply(200, 'reached'))
    const server = createServer()
    const edge = attach(server, app)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = `http://localhost:${(server.address() as AddressInfo).port}`
    stop = () => edge.drain(1000)
  }, 60_000)
  afterAll(() => stop())

  const send = async (path: string, init: RequestInit = {}): Promise<number> => {
    const answer = await fetch(url + path, {
      ...init,
      headers: { ...BROWSER, ...(init.headers as Record<string, string>) },
    })
    const text = await answer.text()
    expect(text.includes('reached')).toBe(answer.status === 200)
    // The reply says nothing of the rule.
    expect(text).not.toMatch(/\d{6}/)
    return answer.status
  }
  const json = (value: unknown): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  })

  it.each(['/', '/products/7?page=2&sort=price', '/search?q=red+shoes+%26+socks', "/people?name=O'Reilly"])(
    'passes %s',
    async path => {
      expect(await send(path)).toBe(200)
    },
  )

  it.each([
    "/?id=1'+union+select+password+from+users--+-",
    '/?q=%3Cscript%3Ealert(1)%3C/script%3E',
    '/?file=../../../../etc/passwd',
    '/?x=%24%7Bjndi:ldap://127.0.0.1/a%7D',
    '/?cmd=;cat+/etc/passwd',
  ])('refuses %s', async path => {
    expect(await send(path)).toBe(403)
  })

  it('looks into bodies, whole', async () => {
    expect(await send('/', json({ note: 'hello there' }))).toBe(200)
    expect(await send('/', json({ note: [{ deep: "1' or '1'='1' -- " }] }))).toBe(403)
    expect(await send('/', json({ pad: 'x'.repeat(200_000), note: '<script>alert(1)</script>' }))).toBe(403)
  })

  it('tells the log which rules matched', async () => {
    reports.length = 0
    expect(await send("/?id=1'+union+select+password+from+users--+-")).toBe(403)
    expect(reports[0]?.findings.some(({ rule, category }) => rule === '942100' && category === 'sqli')).toBe(
      true,
    )
  })
})
