/** Damaged requests and rule files for fuzzing: the same seed gives the same ones. */
import type { InspectReply, InspectRequest } from '../../engine/types.ts'

/** A small generator of chance (mulberry32). */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A whole number from 0, below `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % end
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!
  }
}

const MARKS: readonly string[] =
  `% %00 %25 %u0027 %c0%af &#x27; \\u0027 \\x27 ' " \` < > /* */ -- # ; & = + { } [ ] ( ) $ \\ ../ | ~ --b --b--
  <!-- ]]> <![CDATA[ """ <?xml <a\u00a0b=" \${jndi: $(id) \x1f\x8b \xff \xef\xbc\x87 bytes= charset=utf-7 filename*= __proto__ {{7*7}}`
    .split(/\s+/)
    .concat([
      '\0',
      '\r\n',
      '\n',
      '\r\n--b\r\n',
      '\t,\n/29',
      'Content-Disposition: form-data; name="a"',
      ' '.repeat(20),
    ])

const TYPES: readonly string[] = [
  ...[
    'application/json',
    'text/xml',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/soap+xml',
  ],
  ...[
    'multipart/form-data; boundary=b',
    'multipart/form-data',
    'multipart/form-data; boundary="',
    'nonsense',
    '',
  ],
]

/** The text with up to four wounds. */
export function damaged(chance: Chance, text: string, marks: readonly string[] = MARKS, most = 4000): string {
  let out = text.slice(0, most)
  for (let n = 1 + chance.below(4); n > 0; n--) {
    const at = chance.below(out.length + 1)
    const to = Math.min(out.length, at + chance.below(20))
    switch (chance.below(6)) {
      case 0:
        out = out.slice(0, at) + chance.pick(marks) + out.slice(at)
        break
      case 1:
        out = out.slice(0, at) + out.slice(to)
        break
      case 2:
        out = out.slice(0, to) + out.slice(at)
        break
      case 3:
        out = out.slice(0, at) + String.fromCharCode(chance.below(256)) + out.slice(at + 1)
        break
      case 4:
        out = out.slice(0, at) + chance.pick(marks).repeat(1 + chance.below(30)) + out.slice(to)
        break
      default:
        out = out.slice(to) + out.slice(0, at)
    }
  }
  return out
}

/** A request of the pool, damaged. */
export function damagedRequest(chance: Chance, pool: readonly InspectRequest[]): InspectRequest {
  const { method, target, headers, body } = chance.pick(pool)
  const fields = headers.map(([name, value]): [string, string] => [
    chance.below(40) === 0 ? damaged(chance, name) : name,
    chance.below(4) === 0 ? damaged(chance, value) : value,
  ])
  if (chance.below(3) === 0) fields.push(['Content-Type', chance.pick(TYPES)])
  if (chance.below(4) === 0) fields.push(['Cookie', damaged(chance, 'a=b; c=d')])
  const bytes = body
    ? Buffer.from(body).toString('latin1')
    : chance.below(3) === 0
      ? chance.pick(pool).target
      : ''
  return {
    method: chance.below(20) === 0 ? damaged(chance, method) : method,
    target: damaged(chance, target),
    protocol: chance.below(20) === 0 ? damaged(chance, 'HTTP/1.1') : 'HTTP/1.1',
    headers: fields,
    body: bytes === '' ? null : Buffer.from(damaged(chance, bytes), 'latin1'),
  }
}

/** A reply with pieces of the pool in it. */
export function damagedReply(chance: Chance, pool: readonly InspectRequest[]): InspectReply {
  const text = chance.pick(pool)
  return {
    status: chance.pick([200, 200, 204, 302, 403, 404, 500, 503]),
    headers: [
      ['Content-Type', chance.pick(['text/html', 'text/plain; charset=utf-8', 'application/json', ''])],
      ['X-Odd', damaged(chance, text.target)],
    ],
    body:
      chance.below(4) === 0
        ? null
        : Buffer.from(damaged(chance, `${text.target}${String(text.body ?? '')}`), 'latin1'),
  }
}

const RULE_MARKS: readonly string[] = [
  ...[
    '"',
    "'",
    '\\',
    '\\\n',
    '\n',
    '\r\n',
    ',',
    ':',
    '|',
    '&',
    '!',
    '@',
    '@rx ',
    '!@',
    '%{',
    '%{tx.',
    '}',
    '(',
    ')',
    '[',
  ],
  ...[
    ']',
    '{1,',
    '{1000}',
    '{9,1}',
    '*',
    '+',
    '?',
    '^',
    '$',
    '(?i)',
    '(?=',
    '(?:',
    '\\p{L}',
    '\\1',
    '\\x',
    '\\xff',
    '#',
  ],
  ...[
    'chain',
    'id:',
    'id:1',
    'phase:',
    'phase:9',
    't:',
    't:none',
    'skipAfter:',
    'setvar:tx.',
    'ctl:',
    'SecRule ',
    'ARGS',
    'TX:/',
  ],
  ...[
    'SecAction ',
    'SecMarker ',
    'Include ',
    'Include *',
    'SecRuleRemoveById ',
    'SecRuleUpdateTargetById 1 ',
    '\0',
    '\xff',
    '9'.repeat(30),
  ],
  ...[
    '@pmFromFile ',
    '@ipMatch ',
    '@validateByteRange ',
    'multiMatch',
    'capture',
    'status:',
    'allow',
    'redirect:',
    'SecAuditLogParts ',
  ],
]

/** Some rules of a file, damaged. */
export function damagedRules(chance: Chance, files: readonly string[]): string {
  const lines = chance.pick(files).split('\n')
  const start = chance.below(lines.length)
  const some = lines.slice(start, start + 1 + chance.below(40)).join('\n')
  return damaged(chance, some, RULE_MARKS, 8000)
}
