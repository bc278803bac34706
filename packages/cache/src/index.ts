/** @postern/cache: an RFC 9111 shared cache as a wrapper. Nothing is here yet. */
export {}
