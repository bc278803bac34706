/** For tests: an engine that looks for words, so that a filter can be tested apart from patterns. */
import { reader } from '../../body/index.ts'
import type { Engine, Finding } from '../../engine/types.ts'

/** `evil` is worth 5 points, `odd` 2; the threshold is 5. */
export function words(): Engine {
  const read = reader({ maxDepth: 8 })
  return {
    name: 'words',
    inspect(request, excepted) {
      const findings: Finding[] = []
      const violation = read(request, (place, value) => {
        for (const [word, score] of [
          ['evil', 5],
          ['odd', 2],
        ] as const) {
          const at = `${place}`
          if (!value.includes(word) || excepted?.(`rce-${word}`, 'rce', at)) continue
          const severity = 'high'
          findings.push({
            rule: `rce-${word}`,
            category: 'rce',
            severity,
            score,
            place: at,
            excerpt: value,
            message: word,
          })
        }
      })
      const score = findings.reduce((sum, finding) => sum + finding.score, 0)
      return { blocked: violation !== null || score >= 5, score, threshold: 5, findings, violation }
    },
  }
}
