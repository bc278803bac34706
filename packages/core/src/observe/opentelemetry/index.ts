/** @postern/core/opentelemetry: traces and metrics through @opentelemetry/api. */

export {
  activeSpan,
  type OpenTelemetryOptions,
  type OpenTelemetryState,
  openTelemetry,
} from './open-telemetry.ts'
export type { RequestTelemetry } from './request-telemetry.ts'
