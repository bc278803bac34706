/** A gate on a route in front of a real nginx, which decodes and merges slashes before it looks for a file. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pipeline, proxy, refuse, upstream } from '../src/index.ts'
import { get1, request2, session2 } from './support/clients.ts'
import { edge, listen } from './support/servers.ts'

process.env.PATH += ':/usr/sbin'
const missing = spawnSync('nginx', ['-v']).error !== undefined
const SECRET = 'for admins only'

/** Targets that nginx answers with the file under /admin. */
const PAST_NGINX = [
  '/admin/secret.txt',
  '//admin/secret.txt',
  '///admin//secret.txt',
  '/%2fadmin/secret.txt',
  '/admin%2fsecret.txt',
  '/%61dmin/secret.txt',
  '/pub/../admin/secret.txt',
  '/pub/%2e%2e/admin/secret.txt',
  '/pub/..%2fadmin/secret.txt',
  '/pub%2f..%2fadmin/secret.txt',
  '/pub//../admin/secret.txt',
  '/./admin/secret.txt',
  '/x/..//admin/secret.txt',
]

describe.skipIf(missing && !process.env.CI)(
  `nginx as the origin${missing ? ' (nginx is not installed)' : ''}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'postern-nginx-'))
    let nginx: ChildProcess
    let port = 0

    beforeAll(async () => {
      const probe = createServer()
      port = await listen(probe)
      await new Promise(resolve => probe.close(resolve))
      // The workers of a master that runs as root are somebody else.
      chmodSync(folder, 0o755)
      mkdirSync(join(folder, 'root/admin'), { recursive: true })
      mkdirSync(join(folder, 'root/pub'))
      writeFileSync(join(folder, 'root/admin/secret.txt'), SECRET)
      writeFileSync(join(folder, 'root/pub/a.txt'), 'for all')
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        kind => `${kind}_temp_path ${folder}/${kind};`,
      )
      writeFileSync(
        join(folder, 'nginx.conf'),
        `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
      http { access_log off; ${temporary.join(' ')} server { listen 127.0.0.1:${port}; root ${folder}/root; } }`,
      )
      nginx = spawn('nginx', ['-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')])
      for (let i = 0; i < 200; i++) {
        const up = await get1(port, '/pub/a.txt').catch(() => null)
        if (up?.status === 200) return
        await new Promise(resolve => setTimeout(resolve, 25))
      }
      throw new Error('nginx does not answer')
    })

    afterAll(async () => {
      const over = new Promise(resolve => nginx.on('exit', resolve))
      nginx.kill('SIGQUIT')
      await over
      rmSync(folder, { recursive: true })
    })

    const gated = async () => {
      const group = upstream({ name: 'nginx', targets: [`http://127.0.0.1:${port}`] })
      const app = pipeline()
        .route('/admin/*', r =>
          r.use({ name: 'auth', onRequest: () => refuse(401, 'auth') }).handle(proxy(group)),
        )
        .handle(proxy(group))
      const plain = await edge(app)
      return { plain: plain.port, session: session2((await edge(app, 'h2c')).url), group }
    }

    it('without the edge, each of these tells the secret', async () => {
      for (const target of PAST_NGINX) expect((await get1(port, target)).body, target).toContain(SECRET)
    })

    it('with the edge none does, over h1 and h2', async () => {
      const { plain, session, group } = await gated()
      for (const target of PAST_NGINX) {
        const one = await get1(plain, target)
        const two = await request2(session, { ':path': target })
        expect([400, 401], target).toContain(one.status)
        expect([400, 401], target).toContain(two.status)
        expect(one.body + two.body, target).not.toContain(SECRET)
      }
      await group.destroy()
    })

    it('what is for all passes in any spelling', async () => {
      const { plain, group } = await gated()
      for (const target of [
        '/pub/a.txt',
        '//pub//a.txt',
        '/pub%2fa.txt',
        '/%70ub/a.txt',
        '/x/../pub/a.txt',
      ]) {
        expect((await get1(plain, target)).body, target).toContain('for all')
      }
      await group.destroy()
    })
  },
)
