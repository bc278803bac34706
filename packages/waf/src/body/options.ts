/** Options of the readers: what is read, and how much of it. */
import { ConfigError, type ConfigFault } from '@postern/core'

/** Limits and choices of the readers; every one has a default. */
export interface ReadOptions {
  /** Parameters of a query or form, parts of a multipart body, cookies; default 1000 each. */
  maxParameters?: number
  /** Nesting of JSON, XML and GraphQL; default 32. */
  maxDepth?: number
  /** Members of all objects of a JSON body; default 10 000. Also elements and attributes of an XML body. */
  maxKeys?: number
  /** Longest string of a JSON body in bytes, as sent; default 1 MiB. */
  maxString?: number
  /** Tokens of a GraphQL document; default 4000. */
  maxTokens?: number
  /** Bytes of head of one multipart part; default 4096. */
  maxPartHead?: number
  /** Bytes of a body after decompression; default 4 MiB. */
  maxInflated?: number
  /** How many times its size a body may grow when it is decompressed (64 KiB are always allowed); default 100. */
  maxRatio?: number
  /** Charsets that a body may declare, in lower case; default `utf-8`, `utf8`, `us-ascii`, `iso-8859-1`. */
  charsets?: readonly string[]
  /**
   * Bits a byte above which a text body or a value of more than 256 bytes is refused as no text (Shannon); default 7.5.
   * Text of any script stays below 6.6, base64 at 6. `false` switches it off.
   */
  maxEntropy?: number | false
  /** Headers that are not looked at, besides those of framing; default none. */
  skipHeaders?: readonly string[]
}

/** {@link ReadOptions} with nothing left out. */
export interface Limits {
  readonly maxParameters: number
  readonly maxDepth: number
  readonly maxKeys: number
  readonly maxString: number
  readonly maxTokens: number
  readonly maxPartHead: number
  readonly maxInflated: number
  readonly maxRatio: number
  readonly charsets: ReadonlySet<string>
  /** Infinity when off. */
  readonly maxEntropy: number
  readonly skipHeaders: ReadonlySet<string>
}

const WHOLE = {
  maxParameters: [1000, 1, 100_000],
  maxDepth: [32, 1, 512],
  maxKeys: [10_000, 1, 10_000_000],
  maxString: [1 << 20, 1, 1 << 28],
  maxTokens: [4000, 1, 1_000_000],
  maxPartHead: [4096, 64, 65_536],
  maxInflated: [4 << 20, 1024, 1 << 28],
  maxRatio: [100, 1, 2000],
} as const

const OTHERS = ['charsets', 'maxEntropy', 'skipHeaders']

/**
 * Fills in the defaults. `place` is how faults name the option, for example `signatures.read`.
 * @throws ConfigError with every fault.
 */
export function limitsOf(options: ReadOptions = {}, place = 'read'): Limits {
  const faults: ConfigFault[] = []
  for (const name of Object.keys(options)) {
    if (name in WHOLE || OTHERS.includes(name)) continue
    const known = [...Object.keys(WHOLE), ...OTHERS].join(', ')
    faults.push({ place: `${place}.${name}`, problem: 'there is no such option', fix: `Choose of ${known}.` })
  }
  const limits: Limits = {
    maxParameters: whole('maxParameters'),
    maxDepth: whole('maxDepth'),
    maxKeys: whole('maxKeys'),
    maxString: whole('maxString'),
    maxTokens: whole('maxTokens'),
    maxPartHead: whole('maxPartHead'),
    maxInflated: whole('maxInflated'),
    maxRatio: whole('maxRatio'),
    charsets: names('charsets', options.charsets ?? ['utf-8', 'utf8', 'us-ascii', 'iso-8859-1']),
    maxEntropy: entropy(),
    skipHeaders: names('skipHeaders', options.skipHeaders ?? []),
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return limits

  function whole(name: keyof typeof WHOLE): number {
    const [usual, least, most] = WHOLE[name]
    const value = options[name] ?? usual
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      faults.push({
        place: `${place}.${name}`,
        problem: `${String(value)} is no whole number from ${least} to ${most}`,
        fix: `Choose one in that range; the default is ${usual}.`,
      })
    }
    return value
  }

  function names(name: 'charsets' | 'skipHeaders', list: readonly string[]): ReadonlySet<string> {
    const usable =
      Array.isArray(list) && list.every(one => typeof one === 'string' && /^[\w.+-]{1,64}$/.test(one))
    if (!usable) {
      faults.push({
        place: `${place}.${name}`,
        problem: 'it is no list of names',
        fix: 'Write an array of strings.',
      })
      return new Set()
    }
    return new Set(list.map(one => one.toLowerCase()))
  }

  function entropy(): number {
    const { maxEntropy = 7.5 } = options
    if (maxEntropy === false) return Number.POSITIVE_INFINITY
    if (typeof maxEntropy === 'number' && maxEntropy >= 4 && maxEntropy <= 8) return maxEntropy
    faults.push({
      place: `${place}.maxEntropy`,
      problem: `${String(maxEntropy)} is neither false nor a number from 4 to 8`,
      fix: 'Bits a byte: text is below 5.5, base64 at 6, random bytes at 8.',
    })
    return 8
  }
}
