/** Peer: HAProxy with one thread. */
import { peerFlags, runBinary } from '../lib/peer.mjs'

const { port, origin } = peerFlags()

runBinary({
  port,
  file: 'haproxy.cfg',
  config: () => `
global
  nbthread 1
  maxconn 1024
defaults
  mode http
  option http-keep-alive
  http-reuse always
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend edge
  bind 127.0.0.1:${port}
  default_backend origin
backend origin
  server origin ${new URL(origin).host} maxconn 128
`,
  command: path => ['haproxy', '-q', '-db', '-f', path],
})
