/** @postern/core: the pipeline, router, gates, proxy and transports. */

export { type HeldBody, holdReplyBody } from './body/hold-reply.ts'
export { KeptBody } from './body/kept.ts'
export {
  ConfigError,
  type ConfigFault,
  type FailureCode,
  type FailureDetails,
  type FailurePhase,
  type FailureSource,
  ProxyError,
} from './errors.ts'
export { type BaselineOptions, type BaselineState, baseline } from './gates/baseline.ts'
export { type BodyLimitOptions, bodyLimit } from './gates/body-limit.ts'
export { type Bundle, bundle } from './gates/bundle.ts'
export type { ClientKeyOptions } from './gates/client-key.ts'
export { type ConcurrencyLimitOptions, type ConcurrencyState, concurrencyLimit } from './gates/concurrency.ts'
export { type CorsOptions, cors } from './gates/cors.ts'
export { earlyData } from './gates/early-data.ts'
export { type HeaderLimitsOptions, headerLimits } from './gates/header-limits.ts'
export { type HealthOptions, health } from './gates/health.ts'
export { type HostAllowListOptions, hostAllowList } from './gates/host-allow-list.ts'
export { type IpAccessOptions, ipAccess } from './gates/ip-access.ts'
export { type MethodsOptions, methods } from './gates/methods.ts'
export { type RateLimitOptions, type RateLimitState, rateLimit } from './gates/rate-limit.ts'
export { type Bucket, memoryRateStore, type RateDecision, type RateLimitStore } from './gates/rate-store.ts'
export { type RequestIdOptions, type RequestIdState, requestId } from './gates/request-id.ts'
export { type SecurityHeadersOptions, securityHeaders } from './gates/security-headers.ts'
export { slowUploads } from './gates/slow-uploads.ts'
export { type TraceContextOptions, type TraceState, traceContext } from './gates/trace-context.ts'
export { type UriLengthOptions, uriLength } from './gates/uri-length.ts'
export { PEER_TLS } from './headers/head.ts'
export { HeaderList, isFieldName, isFieldValue } from './headers/list.ts'
export { PreparedLines } from './headers/prepared.ts'
export { readTarget, type Target as RequestTarget, type TargetFault } from './headers/target.ts'
export { addressKey, canonicalAddress } from './net/address.ts'
export { cidrMatcher } from './net/cidr.ts'
export { type AccessLogOptions, accessLog } from './observe/access-log.ts'
export { type Metrics, type MetricsOptions, type MetricsState, metrics } from './observe/metrics/metrics.ts'
export type { MeasuredServer } from './observe/metrics/servers.ts'
export { secretNames } from './observe/redact.ts'
export { EditableReply } from './pipeline/answer.ts'
export type {
  App,
  AttemptWatch,
  Awaitable,
  BodyReplacement,
  BodyTransform,
  ClientLink,
  Context,
  Filter,
  Flow,
  ForwardHead,
  Handler,
  InjectedReply,
  InjectOptions,
  OpenExchange,
  Outcome,
  Peer,
  PeerTls,
  Pipeline,
  Reply,
  ReplyHead,
  RequestHead,
  SentAttempt,
  Sink,
  Source,
  Tunnel,
  Verdict,
  Wrapper,
} from './pipeline/contract.ts'
export type { ParamsOf } from './pipeline/params.ts'
export { type PipelineOptions, pipeline } from './pipeline/pipeline.ts'
export { type Subrequest, type SubrequestOptions, subrequest } from './pipeline/subrequest.ts'
export type { ForwardedMode } from './proxy/forwarded.ts'
export { type ProxyOptions, proxy } from './proxy/proxy.ts'
export type { RetryOptions } from './proxy/retry-options.ts'
export { type ReplyOptions, refuse, reply } from './reply.ts'
export { type CompressOptions, compress, storeCompressed } from './rewrite/compress.ts'
export { type DecodeRepliesOptions, decodeReplies } from './rewrite/decode-replies.ts'
export type { DecodingOptions } from './rewrite/decoding.ts'
export { type EditReplyBodyOptions, editReplyBody } from './rewrite/edit-body.ts'
export {
  type EditHeadersOptions,
  editReplyHeaders,
  editRequestHeaders,
  type FieldValue,
} from './rewrite/edit-headers.ts'
export { type RewriteCookiesOptions, rewriteCookies } from './rewrite/rewrite-cookies.ts'
export { type RewriteLocationOptions, rewriteLocation } from './rewrite/rewrite-location.ts'
export { addPrefix, rewritePath, stripPrefix } from './rewrite/rewrite-path.ts'
export { addQuery, removeQuery } from './rewrite/rewrite-query.ts'
export type { PathReading } from './router/readings.ts'
export {
  type ConnectionCap,
  type ConnectionCapOptions,
  type ConnectionCounts,
  connectionCap,
} from './transport/clients/connection-cap.ts'
export type { ServerStats, SlowCounts } from './transport/clients/guard.ts'
export type { ClientLimits } from './transport/clients/options.ts'
export { type Attached, type AttachOptions, attach } from './transport/node/attach.ts'
export { type HandlerOptions, type NodeHandler, toHandler } from './transport/node/handler.ts'
export type { Http2Limits } from './transport/node/hardening.ts'
export { type NodeUpgradeHandler, toUpgradeHandler } from './transport/node/upgrade.ts'
export type { SwapOptions, Swappable, Swapped } from './transport/service.ts'
export type { HashKey } from './upstream/balance/consistent-hash.ts'
export type { ResolvedAddress, Resolver } from './upstream/dns/resolver.ts'
export type { ChangeReason, GroupEvent, GroupStats, TargetState, TargetStats } from './upstream/events.ts'
export type {
  Balance,
  CheckOptions,
  DnsOptions,
  Http2UpstreamOptions,
  PassiveOptions,
  TlsOptions,
  UpstreamHealthOptions,
  UpstreamOptions,
} from './upstream/options.ts'
export type { UpstreamProtocol } from './upstream/protocol.ts'
export type { StickyOptions } from './upstream/sticky.ts'
export type { Target } from './upstream/target.ts'
export type { TargetOptions } from './upstream/target-url.ts'
export { type Upstream, upstream } from './upstream/upstream.ts'
export { INNER_LISTENERS } from './wire/server/take-over.ts'
