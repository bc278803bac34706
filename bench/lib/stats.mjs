/** The little statistics that the comparison needs. */

/** The value in the middle; of an even count, the mean of the two. NaN of nothing. */
export function median(values) {
  return quantile(values, 0.5)
}

/** The value below which `share` of the values lie, between neighbours in proportion. NaN of nothing. */
export function quantile(values, share) {
  if (values.length === 0) return Number.NaN
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)]
  return below + (sorted[Math.ceil(at)] - below) * (at % 1)
}

/** Ratios of values that stand at the same place of both lists: of the same round. */
export function ratios(values, base) {
  const pairs = values.map((value, i) => value / base[i])
  return pairs.filter(ratio => Number.isFinite(ratio))
}
