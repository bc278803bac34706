/** Peer: nginx with one worker. */
import { writeFileSync } from 'node:fs'
import { developmentCertificate } from '@postern/tls'
import { peerFlags, runBinary } from '../lib/peer.mjs'

const { port, origin, tls } = peerFlags()

runBinary({
  port,
  file: 'nginx.conf',
  config: dir => {
    if (tls)
      for (const [name, text] of Object.entries(developmentCertificate()))
        writeFileSync(`${dir}/${name}.pem`, text)
    const secure = tls ? `ssl_certificate ${dir}/cert.pem; ssl_certificate_key ${dir}/key.pem;` : ''
    return `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${dir}/nginx.pid;
error_log stderr crit;
events { worker_connections 12000; }
http {
  access_log off;
  client_body_temp_path ${dir}/body;
  proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi;
  scgi_temp_path ${dir}/scgi;
  keepalive_requests 100000000;
  upstream origin {
    server ${new URL(origin).host};
    keepalive 128;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port}${tls ? ' ssl' : ''};
    ${secure}
    location / {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_max_temp_file_size 0;
    }
  }
}
`
  },
  command: path => ['nginx', '-c', path],
})
