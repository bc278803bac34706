/** @postern/tls: certificates and identity. Nothing is here yet. */
export {}
