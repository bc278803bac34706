/** Configurations of nginx as a peer: one worker, everything in one folder. */

/** The whole file. `top`: lines in front of all; `http`: lines of its `http` block, the servers among them. */
export function nginxConfig({ dir, top = '', errors = 'stderr', connections = 1024, http }) {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
${top}
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${dir}/nginx.pid;
error_log ${errors} crit;
events { worker_connections ${connections}; }
http {
  access_log off;
  ${folders.map(name => `${name}_temp_path ${dir}/${name};`).join('\n  ')}
  keepalive_requests 100000000;
${http}
}
`
}

/** A server that passes all on to an origin over kept connections. `lines` are its own. */
export function proxying({ origin, listen, lines = '' }) {
  return `
  upstream origin {
    server ${new URL(origin).host};
    keepalive 128;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${listen};
    ${lines}
    location / {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_max_temp_file_size 0;
    }
  }`
}
