/** Groups of a match whose place is known: a simulation of all threads at once, with their captures. */
import { OP_ASSERT, OP_MATCH, OP_SAVE, OP_SET, OP_SPLIT, type Program } from './program.ts'
import { EDGE, holds, NEWLINE, OTHER, WORD_CHARACTER } from './threads.ts'

/** Start and end of each group, `-1` where it took no part. */
export type Slots = Int32Array

/** Groups of the preferred match from `start` to `end`. Time: length of the match times instructions of the pattern. */
export function findCaptures(
  program: Program,
  groups: number,
  value: string,
  start: number,
  end: number,
): Slots {
  const { op, next, arg, classOf, classes, member } = program
  const length = op.length
  const slots = (groups + 1) * 2
  let current: Thread[] = []
  let following: Thread[] = []
  const seen = new Int32Array(length).fill(-1)

  const add = (into: Thread[], entry: number, given: Slots, place: number): void => {
    const before = place === 0 ? EDGE : kindOf(program, value.charCodeAt(place - 1))
    const after = place === value.length ? EDGE : kindOf(program, value.charCodeAt(place))
    const stack: Thread[] = [{ at: entry, saved: given }]
    for (let thread = stack.pop(); thread !== undefined; thread = stack.pop()) {
      const { at, saved } = thread
      if (seen[at] === place) continue
      seen[at] = place
      if (op[at] === OP_SPLIT) {
        stack.push({ at: arg[at]!, saved }, { at: next[at]!, saved })
      } else if (op[at] === OP_SAVE) {
        const copy = saved.slice()
        copy[arg[at]!] = place
        stack.push({ at: next[at]!, saved: copy })
      } else if (op[at] === OP_ASSERT) {
        if (holds(arg[at]!, before, after)) stack.push({ at: next[at]!, saved })
      } else {
        into.push(thread)
      }
    }
  }

  add(current, program.start, new Int32Array(slots).fill(-1), start)
  for (let place = start; place < end; place++) {
    const byteClass = classOf[value.charCodeAt(place)]!
    following = []
    for (const { at, saved } of current) {
      if (op[at] === OP_SET && member[arg[at]! * classes + byteClass] === 1)
        add(following, next[at]!, saved, place + 1)
    }
    current = following
  }
  const match = current.find(thread => op[thread.at] === OP_MATCH)
  const found = match ? match.saved.slice() : new Int32Array(slots).fill(-1)
  found[0] = start
  found[1] = end
  return found
}

interface Thread {
  readonly at: number
  readonly saved: Slots
}

function kindOf(program: Program, code: number): number {
  const byteClass = program.classOf[code]!
  if (program.wordClass[byteClass] === 1) return WORD_CHARACTER
  return program.newlineClass[byteClass] === 1 ? NEWLINE : OTHER
}
