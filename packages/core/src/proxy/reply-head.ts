/** What a client may see of an upstream's head. */

import { nominatedNames } from '../headers/hop-by-hop.ts'
import { HeaderList } from '../headers/list.ts'
import {
  ALIAS,
  CONNECTION,
  CONTENT_LENGTH,
  END_TO_END,
  HOP_BY_HOP,
  kindOf,
  TE,
  TRAILER,
  TRANSFER_ENCODING,
  UPGRADE,
} from '../headers/names.ts'

/** Fields of the reply without those of the upstream's own hop; takes the array over. */
export function replyFields(raw: string[], status: number): HeaderList {
  const nominated = nominatedNames(raw)
  let kept = 0
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    switch (kindOf(name)) {
      case END_TO_END:
      case ALIAS:
        if (nominated?.has(name.toLowerCase())) continue
        break
      case CONTENT_LENGTH:
        // RFC 9110, 8.6: never with 1xx and 204.
        if (status === 204 || status < 200) continue
        break
      case CONNECTION:
      case TRANSFER_ENCODING:
      case HOP_BY_HOP:
      case UPGRADE:
      case TE:
      case TRAILER:
        continue
    }
    raw[kept++] = name
    raw[kept++] = raw[i + 1]!
  }
  raw.length = kept
  return new HeaderList(raw)
}

const STREAMS =
  /^(?:text\/event-stream|multipart\/x-mixed-replace|application\/(?:grpc|x-ndjson|stream\+json))/i
const LARGE = 1 << 20

/** True for a reply whose length in time is its own affair: event streams, unknown or large bodies. */
export function isStream(headers: HeaderList, length: string | undefined): boolean {
  if (length === undefined || Number(length) > LARGE) return true
  const type = headers.get('content-type')
  return type !== undefined && STREAMS.test(type)
}
