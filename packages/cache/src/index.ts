/** @postern/cache: an RFC 9111 shared cache as a wrapper. */
export { type Cache, type CacheStats, cache } from './cache.ts'
export type { Purge, PurgeOptions } from './operate/purge.ts'
export type { CacheKeyOptions, CacheOptions } from './options.ts'
export type { CacheDecision, ForwardReason } from './policy/cache-status.ts'
