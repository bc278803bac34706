/** A gRPC service of bytes: real clients and servers of @grpc/grpc-js, no code generation. */
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import { onTestFinished } from 'vitest'
import { certificate } from './certificate.ts'

const same = (bytes: Buffer): Buffer => bytes
const method = (name: string, requestStream: boolean, responseStream: boolean): object => ({
  path: `/test.Echo/${name}`,
  requestStream,
  responseStream,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
})

const service = {
  unary: method('unary', false, false),
  download: method('download', false, true),
  upload: method('upload', true, false),
  chat: method('chat', true, true),
} as unknown as ServiceDefinition

/** What a server saw of cancelled calls. */
export interface GrpcOrigin {
  port: number
  cancelled: () => number
}

/**
 * `unary` answers its bytes, and the request's `x-a`; `fail:N` fails with status N and a trailer, `sleep` never answers.
 * `download` gives the number of messages asked for; `upload` their sum of bytes; `chat` echoes each.
 */
export async function grpcOrigin(secure: boolean): Promise<GrpcOrigin> {
  let cancelled = 0
  const server = new Server()
  server.addService(service, {
    unary(call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) {
      call.on('cancelled', () => cancelled++)
      const text = call.request.toString()
      if (text === 'sleep') return
      const trailers = new Metadata()
      trailers.set('x-trailer', 'last')
      trailers.set('x-bytes-bin', Buffer.from([0, 255, 1]))
      if (text.startsWith('fail:')) {
        answer({ code: Number(text.slice(5)), details: 'as asked: ü', metadata: trailers })
        return
      }
      const head = new Metadata()
      for (const value of call.metadata.get('x-a')) head.add('x-a', value)
      call.sendMetadata(head)
      answer(null, call.request, trailers)
    },
    download(call: ServerWritableStream<Buffer, Buffer>) {
      call.on('cancelled', () => cancelled++)
      const count = Number(call.request.toString())
      for (let i = 0; i < count; i++) call.write(Buffer.from(`message ${i}`))
      if (count > 0) call.end()
    },
    upload(call: ServerReadableStream<Buffer, Buffer>, answer: sendUnaryData<Buffer>) {
      let bytes = 0
      call.on('data', (message: Buffer) => {
        bytes += message.length
      })
      call.on('end', () => answer(null, Buffer.from(String(bytes))))
    },
    chat(call: ServerDuplexStream<Buffer, Buffer>) {
      call.on('cancelled', () => cancelled++)
      call.sendMetadata(new Metadata())
      call.on('data', (message: Buffer) => call.write(message))
      call.on('end', () => call.end())
    },
  })
  const { key, cert } = certificate()
  const how = secure
    ? ServerCredentials.createSsl(null, [{ private_key: Buffer.from(key), cert_chain: Buffer.from(cert) }])
    : ServerCredentials.createInsecure()
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', how, (error, bound) => (error ? reject(error) : resolve(bound)))
  })
  onTestFinished(() => server.forceShutdown())
  return { port, cancelled: () => cancelled }
}

/** A client of the service. */
export class EchoClient extends Client {
  constructor(port: number, secure: boolean) {
    const how: ChannelCredentials = secure
      ? credentials.createSsl(Buffer.from(certificate().cert))
      : credentials.createInsecure()
    // From Node 26 on an address is no server name, which grpc-js would make it.
    const name = secure ? { 'grpc.ssl_target_name_override': 'localhost' } : {}
    super(`127.0.0.1:${port}`, how, { 'grpc.enable_retries': 0, ...name })
    onTestFinished(() => this.close())
  }

  unary(
    text: string,
    metadata: Metadata = new Metadata(),
    deadline = 5000,
  ): Promise<{ text: string; code: number; details: string; head: Metadata; trailers: Metadata }> {
    return new Promise(resolve => {
      let head = new Metadata()
      let got = ''
      const call = this.makeUnaryRequest(
        '/test.Echo/unary',
        same,
        same,
        Buffer.from(text),
        metadata,
        { deadline: Date.now() + deadline },
        (_error, bytes) => {
          got = bytes?.toString() ?? ''
        },
      )
      call.on('metadata', one => {
        head = one
      })
      call.on('status', one =>
        setImmediate(() =>
          resolve({ text: got, code: one.code, details: one.details, head, trailers: one.metadata }),
        ),
      )
    })
  }

  download(count: number): ClientReadableStream<Buffer> {
    return this.makeServerStreamRequest('/test.Echo/download', same, same, Buffer.from(String(count)))
  }

  upload(messages: Buffer[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const call = this.makeClientStreamRequest('/test.Echo/upload', same, same, (error, bytes) =>
        error ? reject(error) : resolve(bytes!.toString()),
      )
      for (const message of messages) call.write(message)
      call.end()
    })
  }

  chat(): ClientDuplexStream<Buffer, Buffer> {
    return this.makeBidiStreamRequest('/test.Echo/chat', same, same)
  }
}

export { Metadata, status }
