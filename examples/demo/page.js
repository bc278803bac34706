// Fills the demo page: what the edge added to the reply and to the request, its refusals, and a stream.
const ADDED_TO_REPLY = /^(strict-transport|x-content-type|x-frame|referrer|permissions|x-request|ratelimit)/
const ADDED_TO_REQUEST = /^(x-forwarded|x-real|x-request|traceparent|tracestate|forwarded|host|via)/

const PROTOCOLS = { h2: 'HTTP/2', 'http/1.1': 'HTTP/1.1' }
const [page] = performance.getEntriesByType('navigation')
text('protocol', PROTOCOLS[page?.nextHopProtocol] ?? 'HTTP')

const reply = await fetch('/echo')
fill(
  'reply',
  [...reply.headers].filter(([name]) => ADDED_TO_REPLY.test(name)),
)
const seen = await reply.json()
fill(
  'request',
  seen.headers.filter(line => ADDED_TO_REQUEST.test(line.toLowerCase())).map(line => line.split(/: (.*)/, 2)),
)

const attempts = {
  uri: () => [fetch(`/echo?${'x'.repeat(9000)}`)],
  header: () => {
    const headers = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x-many-${i}`, 'y']))
    return [fetch('/echo', { headers })]
  },
  burst: () => Array.from({ length: 150 }, () => fetch('/echo')),
}

for (const button of document.querySelectorAll('button')) {
  button.addEventListener('click', async () => {
    text('answer', 'Sent …')
    const replies = await Promise.allSettled(attempts[button.dataset.try]())
    const counts = new Map()
    for (const { value } of replies) {
      const status = value ? `${value.status}` : 'no answer'
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }
    text('answer', [...counts].map(([status, count]) => `${count} × ${status}`).join(', '))
  })
}

const source = new EventSource('/events')
source.addEventListener('message', ({ data }) => {
  const { event, of } = JSON.parse(data)
  text('count', event)
  document.getElementById('events').value = event
  if (event >= of) source.close()
})

function text(id, value) {
  document.getElementById(id).textContent = value
}

function fill(id, lines) {
  const body = document.querySelector(`#${id} tbody`)
  for (const [name, value] of lines) {
    const row = body.insertRow()
    row.insertCell().textContent = name
    row.insertCell().textContent = value
  }
}
