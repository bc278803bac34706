/** Pebble, Let's Encrypt's test server, with its DNS server. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { authority } from './authority.ts'
import { folder, listen, until } from './servers.ts'

export const hasPebble: boolean = ((): boolean => {
  try {
    execFileSync('sh', ['-c', 'command -v pebble && command -v pebble-challtestsrv'], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
})()

export interface Pebble {
  directory: string
  /** Root of its own HTTPS. */
  ca: string
  /** Root of the certificates that it issues. */
  issuingRoot(): Promise<string>
  setTxt(name: string, value: string): Promise<void>
  clearTxt(name: string): Promise<void>
}

export async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Starts it. `nonces`: per cent of good nonces that it rejects. */
export async function pebble(options: {
  httpPort: number
  tlsPort: number
  nonces?: number
  external?: { keyId: string; key: string }
}): Promise<Pebble> {
  const dir = folder()
  const own = authority('Pebble HTTPS')
  const leaf = own.issue({ names: ['localhost', '127.0.0.1'] })
  const [port, management, dns, dnsManagement] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ]
  writeFileSync(join(dir, 'cert.pem'), leaf.cert)
  writeFileSync(join(dir, 'key.pem'), leaf.key)
  const { external } = options
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: join(dir, 'cert.pem'),
      privateKey: join(dir, 'key.pem'),
      httpPort: options.httpPort,
      tlsPort: options.tlsPort,
      ocspResponderURL: '',
      externalAccountBindingRequired: external !== undefined,
      ...(external ? { externalAccountMACKeys: { [external.keyId]: external.key } } : {}),
    },
  }
  writeFileSync(join(dir, 'config.json'), JSON.stringify(config))
  start('pebble-challtestsrv', [
    ...['-http01', '', '-https01', '', '-tlsalpn01', '', '-dns01', `127.0.0.1:${dns}`],
    ...['-management', `127.0.0.1:${dnsManagement}`, '-defaultIPv6', '', '-defaultIPv4', '127.0.0.1'],
  ])
  start('pebble', ['-config', join(dir, 'config.json'), '-dnsserver', `127.0.0.1:${dns}`], {
    PEBBLE_VA_NOSLEEP: '1',
    PEBBLE_WFE_NONCEREJECT: String(options.nonces ?? 20),
    PEBBLE_AUTHZREUSE: '0',
  })
  const get = (path: string, at: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: at, path, ca: own.cert, agent: false }, response => {
        let text = ''
        response.on('data', chunk => {
          text += chunk
        })
        response.on('end', () => resolve(text))
      })
      sent.on('error', reject)
      sent.end()
    })
  await until('pebble listens', () => get('/dir', port).then(Boolean, () => false))
  const post = async (path: string, body: object): Promise<void> => {
    await fetch(`http://127.0.0.1:${dnsManagement}${path}`, { method: 'POST', body: JSON.stringify(body) })
  }
  return {
    directory: `https://127.0.0.1:${port}/dir`,
    ca: own.cert,
    issuingRoot: () => get('/roots/0', management),
    setTxt: (name, value) => post('/set-txt', { host: `${name}.`, value }),
    clearTxt: name => post('/clear-txt', { host: `${name}.` }),
  }
}

function start(name: string, args: string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(name, args, { env: { ...process.env, ...env }, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}
