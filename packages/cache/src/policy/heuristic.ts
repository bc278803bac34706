/** Freshness that nobody stated (RFC 9111, 4.2.2). */

/** How long a response without a stated lifetime is taken to be fresh. */
export interface HeuristicRules {
  /** Share of the time since `Last-Modified`. Default 0.1; 0 turns heuristics off. */
  readonly fraction: number
  /** Most seconds; default 86 400. */
  readonly max: number
}

/** What RFC 9111 suggests. */
export const HEURISTIC: HeuristicRules = { fraction: 0.1, max: 86_400 }
/** Statuses that are heuristically cacheable (RFC 9110, 15.1). */
const CACHEABLE = new Set([200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501])

/** Seconds; 0 when nothing can be said. `isPublic` opens every final status (RFC 9111, 4.2.2). */
export function heuristicLifetime(
  status: number,
  isPublic: boolean,
  lastModified: number | null,
  date: number,
  rules: HeuristicRules,
): number {
  if (lastModified === null || lastModified >= date) return 0
  if (!isPublic && !CACHEABLE.has(status)) return 0
  return Math.min(((date - lastModified) / 1000) * rules.fraction, rules.max)
}
