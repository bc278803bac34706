/** Prints rows of cells in columns: the first to the left, the rest to the right. */
export function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map(row => `${row[column] ?? ''}`.length)))
  const lines = rows.map(row =>
    row.map((cell, i) => (i === 0 ? `${cell}`.padEnd(widths[i]) : `${cell}`.padStart(widths[i]))).join('  '),
  )
  lines.splice(1, 0, widths.map(width => '-'.repeat(width)).join('  '))
  return lines.map(line => line.trimEnd()).join('\n')
}

/** A number with so many decimals, or a dash for what was not measured. */
export function fixed(value, decimals) {
  return Number.isFinite(value) ? value.toFixed(decimals) : '-'
}
