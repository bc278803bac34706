/** Peer: Caddy on one scheduler thread. */
import { peerFlags, runBinary } from '../lib/peer.mjs'

const { port, origin } = peerFlags()

runBinary({
  port,
  file: 'Caddyfile',
  config: () => `
{
  admin off
  auto_https off
  log {
    output discard
  }
}
http://:${port} {
  bind 127.0.0.1
  reverse_proxy ${new URL(origin).host} {
    transport http {
      versions 1.1
      keepalive_idle_conns 128
      keepalive_idle_conns_per_host 128
      compression off
    }
  }
}
`,
  command: path => ['caddy', 'run', '--config', path, '--adapter', 'caddyfile'],
  env: { GOMAXPROCS: '1', XDG_CONFIG_HOME: undefined, XDG_DATA_HOME: undefined },
})
