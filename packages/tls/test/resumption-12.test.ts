/** TLS 1.2 tells no server name when a session is resumed by ticket, and policies hang on names. */
import { createServer, get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { attach, pipeline, reply } from '@postern/core'
import { expect, it, onTestFinished } from 'vitest'
import { certificates, developmentCertificate, listen } from '../src/index.ts'

const pem = developmentCertificate({ names: ['a.test', 'b.test'] })
const app = pipeline().handle(() => reply(200, 'reached'))

it.each(['listen()', 'https and protect()'])(
  'a name with a policy stays open to clients of before: %s',
  async how => {
    const store = await certificates({
      pem,
      minVersion: 'TLSv1.2',
      clients: { 'b.test': { mode: 'optional', ca: pem.cert } },
    })
    onTestFinished(() => store.close())
    const port = how === 'listen()' ? await front() : await plain()
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      for (const name of ['a.test', 'b.test']) {
        const session = await sessionOf(port, name, version)
        expect([name, version, await status(port, name, version, undefined)]).toEqual([name, version, 200])
        expect([name, version, await status(port, name, version, session)]).toEqual([name, version, 200])
        // The ticket of one name opens nothing at the other.
        const other = name === 'a.test' ? 'b.test' : 'a.test'
        expect(await status(port, other, version, session)).toBe(200)
      }
    }

    async function front(): Promise<number> {
      const running = await listen(store, app, { port: 0, host: '127.0.0.1' })
      onTestFinished(() => running.drain(500))
      return running.port
    }

    async function plain(): Promise<number> {
      const server = createServer(store.serverOptions({ protocols: ['http/1.1'] }))
      const edge = attach(server, app)
      store.protect(server)
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => edge.drain(500))
      return (server.address() as AddressInfo).port
    }
  },
)

type Version = 'TLSv1.2' | 'TLSv1.3'

const options = (port: number, servername: string, maxVersion: Version) => ({
  ...{ host: '127.0.0.1', port, servername, maxVersion, minVersion: 'TLSv1.2' as const },
  rejectUnauthorized: false,
})

/** A session that the server gives, if it gives one in time. */
function sessionOf(port: number, name: string, version: Version): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect(options(port, name, version), () =>
      socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`),
    )
    let session: Buffer | undefined
    socket.on('session', given => {
      session = given
    })
    socket
      .on('error', reject)
      .on('close', () => resolve(session))
      .resume()
  })
}

function status(port: number, name: string, version: Version, session: Buffer | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const given = session ? { session } : {}
    const headers = { host: name, connection: 'close' }
    get({ ...options(port, name, version), ...given, headers, agent: false }, answer => {
      answer.resume()
      resolve(answer.statusCode!)
    }).on('error', reject)
  })
}
