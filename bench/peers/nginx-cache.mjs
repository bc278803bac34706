/** Peer: nginx with one worker that answers from its cache. */
import { peerFlags, runBinary } from '../lib/peer.mjs'

const { port, origin } = peerFlags()

runBinary({
  port,
  file: 'nginx.conf',
  config: dir => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${dir}/nginx.pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${dir}/body;
  proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi;
  scgi_temp_path ${dir}/scgi;
  proxy_cache_path ${dir}/cache keys_zone=hits:10m;
  keepalive_requests 100000000;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${origin};
      proxy_cache hits;
      proxy_cache_valid 200 1h;
    }
  }
}
`,
  command: path => ['nginx', '-c', path],
})
