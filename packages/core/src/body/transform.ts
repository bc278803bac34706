/** Bodies that are edited on their way out. */
import { ProxyError } from '../errors.ts'
import type { HeaderList } from '../headers/list.ts'
import { isThenable } from '../pipeline/answer.ts'
import type { BodyReplacement, BodyTransform, Reply, Sink, Source } from '../pipeline/contract.ts'
import { trailersOfChanged } from './changed.ts'
import { KeptBody } from './kept.ts'

/** True for a body that pushes. */
export function isSource(body: Reply['body']): body is Source {
  return body !== null && 'start' in body
}

/** A source that gives known bytes in one chunk. */
export function sourceOf(bytes: Uint8Array): Source {
  return {
    length: bytes.length,
    start(sink) {
      let cancelled = false
      if (bytes.length > 0) sink.write(bytes)
      if (!cancelled) sink.end()
      return {
        pause() {},
        resume() {},
        cancel() {
          cancelled = true
        },
      }
    },
  }
}

/** True for what edits a body. A promise of one is none: nobody waits for it. */
export function isEdit(given: unknown): given is BodyTransform | BodyReplacement {
  if (typeof given === 'function') return true
  const { chunk, end } = (given ?? {}) as Partial<BodyTransform>
  return typeof chunk === 'function' && typeof end === 'function'
}

/**
 * The body in edited form.
 * @throws TypeError when a replacement gives no source.
 */
export function editedSource(body: Uint8Array | Source, edit: BodyTransform | BodyReplacement): Source {
  // Bytes of a program, which may give them again: whoever edits them gets a copy.
  const source = isSource(body) ? body : new KeptBody(body)
  if (typeof edit !== 'function') return transformSource(source, edit)
  const made = edit(source)
  if (typeof made?.start !== 'function') throw new TypeError('a replacement of a body gave no source')
  return made
}

/** The same body, seen through a transform. A transform that throws breaks the body; it never looks whole. */
export function transformSource(body: Uint8Array | Source, transform: BodyTransform): Source {
  const source = isSource(body) ? body : sourceOf(body)
  return {
    length: null,
    start: sink => source.start(new TransformSink(sink, transform)),
  }
}

class TransformSink implements Sink {
  readonly #out: Sink
  readonly #transform: BodyTransform
  #more = true
  #failed = false

  constructor(out: Sink, transform: BodyTransform) {
    this.#transform = transform
    // What the transform writes decides whether the source goes on.
    this.#out = {
      write: bytes => {
        this.#more = out.write(bytes)
        return this.#more
      },
      end: trailers => out.end(trailersOfChanged(trailers)),
      fail: error => out.fail(error),
    }
  }

  write(bytes: Uint8Array): boolean {
    if (this.#failed) return true
    this.#more = true
    this.#guard(() => this.#transform.chunk(bytes, this.#out))
    return this.#more
  }

  end(trailers?: HeaderList): void {
    if (!this.#failed) this.#guard(() => this.#transform.end(this.#out, trailers))
  }

  fail(error: ProxyError): void {
    if (!this.#failed) this.#out.fail(error)
  }

  #guard(step: () => unknown): void {
    try {
      const given = step()
      if (given === undefined || !isThenable(given)) return
      // Nobody waits for it: chunks would overtake one another, and a rejection would have no one to hear it.
      Promise.resolve(given).catch(() => {})
      this.#break(new TypeError('a transform gave a promise; chunk() and end() answer at once'))
    } catch (cause) {
      this.#break(cause)
    }
  }

  #break(cause: unknown): void {
    this.#failed = true
    this.#out.fail(transformFailed(cause))
  }
}

function transformFailed(cause: unknown): ProxyError {
  return new ProxyError({ source: 'proxy', phase: 'reply-body', code: 'internal', cause })
}
