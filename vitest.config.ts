import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

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
    testTimeout: 20_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
  },
})
