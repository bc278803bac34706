/** Peer: nginx with one worker that answers from its cache. */
import { nginxConfig } from '../lib/nginx-config.mjs'
import { peerFlags, runBinary } from '../lib/peer.mjs'

const { port, origin } = peerFlags()

runBinary({
  port,
  file: 'nginx.conf',
  config: dir =>
    nginxConfig({
      dir,
      http: `
  proxy_cache_path ${dir}/cache keys_zone=hits:10m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${origin};
      proxy_cache hits;
      proxy_cache_valid 200 1h;
    }
  }`,
    }),
  command: path => ['nginx', '-c', path],
})
