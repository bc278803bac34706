/** Peer: nginx with one worker. */
import { writeFileSync } from 'node:fs'
import { developmentCertificate } from '@postern/tls'
import { nginxConfig, proxying } from '../lib/nginx-config.mjs'
import { peerFlags, runBinary } from '../lib/peer.mjs'

const { port, origin, tls } = peerFlags()

runBinary({
  port,
  file: 'nginx.conf',
  config: dir => {
    if (tls)
      for (const [name, text] of Object.entries(developmentCertificate()))
        writeFileSync(`${dir}/${name}.pem`, text)
    const lines = tls ? `ssl_certificate ${dir}/cert.pem; ssl_certificate_key ${dir}/key.pem;` : ''
    const http = proxying({ origin, listen: `${port}${tls ? ' ssl' : ''}`, lines })
    return nginxConfig({ dir, connections: 12_000, http })
  },
  command: path => ['nginx', '-c', path],
})
