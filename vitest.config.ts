import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Journeys of HTTP/1.1 clients: they run on node:http, and once more on the wire (see docs/wire.md). */
const http1 = [
  'aftermath,authority,connection-field,drain,failures,forwarded,fuzz,headers,interim,limits,past-the-gate,pipelining',
  'refusals,prepared,slow-clients,slow-pipelines,slow-readers,smuggling,soak,statuses,streams,swap,targets,tls,trailers,tunnels,unasked-continue,uploads',
  'websocket,websocket-programs,wrong-shapes',
]

export default defineConfig({
  resolve: {
    // Tests run on the sources: no stale build can hide a fault.
    alias: [
      {
        find: '@postern/core/opentelemetry',
        replacement: source('packages/core/src/observe/opentelemetry/index.ts'),
      },
      { find: '@postern/core/testing', replacement: source('packages/core/src/testing/index.ts') },
      { find: /^@postern\/waf\/testing\/(\w+)$/, replacement: source('packages/waf/src/testing/$1.ts') },
      { find: '@postern/waf/testing', replacement: source('packages/waf/src/testing/index.ts') },
      { find: '@postern/cache/testing', replacement: source('packages/cache/src/testing/index.ts') },
      { find: /^@postern\/(\w+)$/, replacement: source('packages/$1/src/index.ts') },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: [
            'packages/*/src/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
            'examples/**/*.test.ts',
            'bench/**/*.test.ts',
          ],
          typecheck: {
            enabled: true,
            include: ['packages/*/src/**/*.test-d.ts'],
            tsconfig: 'packages/core/tsconfig.types.json',
          },
        },
      },
      {
        extends: true,
        test: {
          name: 'wire',
          include: [`packages/core/test/{${http1.join(',')}}.test.ts`],
          env: { POSTERN_TRANSPORT: 'wire' },
        },
      },
    ],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
  },
})
