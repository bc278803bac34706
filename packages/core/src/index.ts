/** @postern/core: the pipeline, router, gates, proxy and transports. */

export {
  ConfigError,
  type ConfigFault,
  type FailureCode,
  type FailureDetails,
  type FailurePhase,
  type FailureSource,
  ProxyError,
} from './errors.ts'
export { HeaderList, isFieldName, isFieldValue } from './headers/list.ts'
export type {
  App,
  Awaitable,
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
  Pipeline,
  Reply,
  ReplyHead,
  RequestHead,
  Sink,
  Source,
  Tunnel,
  Verdict,
  Wrapper,
} from './pipeline/contract.ts'
export type { ParamsOf } from './pipeline/params.ts'
export { type PipelineOptions, pipeline } from './pipeline/pipeline.ts'
export type { ForwardedMode } from './proxy/forwarded.ts'
export { type ProxyOptions, proxy } from './proxy/proxy.ts'
export { type ReplyOptions, refuse, reply } from './reply.ts'
export { type Attached, type AttachOptions, attach } from './transport/node/attach.ts'
export { type HandlerOptions, type NodeHandler, toHandler } from './transport/node/handler.ts'
export { type Target, type Upstream, type UpstreamOptions, upstream } from './upstream/upstream.ts'
