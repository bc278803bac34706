/**
 * Takes the choice of a certificate by name out of handshakes while there is nothing to choose: it costs a way into JavaScript and a
 * second start of the handshake, some two per cent of it. Node keeps the function on the server under a symbol of its own; it
 * is felt for, and where it is missing the function stays and is asked each time.
 */
type Chooser = (...args: never[]) => unknown

const ours = new WeakSet<Chooser>()
const removed = new WeakMap<object, Chooser>()

/** Marks a function as one of this package: no other is ever taken away. */
export function markChooser<F extends Chooser>(chooser: F): F {
  ours.add(chooser)
  return chooser
}

/** Lets a server's handshakes ask, or not. Connections that are being made are not touched. */
export function letChoose(server: object, needed: boolean): void {
  const place = Object.getOwnPropertySymbols(server).find(symbol => symbol.description === 'snicallback')
  if (place === undefined) return
  const holder = server as Record<symbol, Chooser | undefined>
  const now = holder[place]
  if (needed) {
    const before = removed.get(server)
    if (before && now === undefined) holder[place] = before
  } else if (now && ours.has(now)) {
    removed.set(server, now)
    holder[place] = undefined
  }
}
