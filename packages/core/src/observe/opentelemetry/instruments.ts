/** The metrics of the semantic conventions for HTTP. */
import type { Histogram, Meter, UpDownCounter } from '@opentelemetry/api'

/** Bounds that the conventions advise for durations, in seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/** Bounds for bodies, in bytes: powers of four from 256 to 64 MiB. */
const BYTES = [0, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864]

export class Instruments {
  readonly serverDuration: Histogram
  readonly serverActive: UpDownCounter
  readonly requestBody: Histogram
  readonly responseBody: Histogram
  readonly clientDuration: Histogram
  readonly clientActive: UpDownCounter

  constructor(meter: Meter) {
    const seconds = { unit: 's', advice: { explicitBucketBoundaries: SECONDS } }
    const bytes = { unit: 'By', advice: { explicitBucketBoundaries: BYTES } }
    this.serverDuration = meter.createHistogram('http.server.request.duration', {
      ...seconds,
      description: 'Duration of HTTP server requests.',
    })
    this.serverActive = meter.createUpDownCounter('http.server.active_requests', {
      unit: '{request}',
      description: 'Number of active HTTP server requests.',
    })
    this.requestBody = meter.createHistogram('http.server.request.body.size', {
      ...bytes,
      description: 'Size of HTTP server request bodies.',
    })
    this.responseBody = meter.createHistogram('http.server.response.body.size', {
      ...bytes,
      description: 'Size of HTTP server response bodies.',
    })
    this.clientDuration = meter.createHistogram('http.client.request.duration', {
      ...seconds,
      description: 'Duration of HTTP client requests.',
    })
    this.clientActive = meter.createUpDownCounter('http.client.active_requests', {
      unit: '{request}',
      description: 'Number of active HTTP requests.',
    })
  }
}
