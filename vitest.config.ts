import { fileURLToPath } from 'node:url';
import { defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';
import { base64Files } from './build/base64.ts';
import { threadPrograms } from './build/threads.ts';
import { PATIENCE_MS } from './tests/support/patience.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const shared = {
  // Replies and error codes that a route file does not declare fail loudly.
  env: { SERVICE_CODE_VALIDATE_REPLIES: '1' },
  // Tests never wait for time: these limits end tests that hang, and are longer than any wait for a condition
  // (`tests/support/patience.ts`).
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: PATIENCE_MS } },
};
const conditions = ['@service-code/source', ...defaultServerConditions];
const resolve = { alias: { '#endpoints': at('./tests/support/endpoints.ts') }, conditions };
const ssr = { resolve: { conditions } };

const plugins = [base64Files(), threadPrograms()];

export default defineConfig({
  test: {
    projects: [
      // Files of a worker share their modules, whose loading took longer than the tests: each puts back what it
      // changes.
      {
        resolve,
        ssr,
        plugins,
        test: { ...shared, name: 'unit', include: ['tests/unit/**/*.test.ts'], isolate: false },
      },
      { resolve, ssr, plugins, test: { ...shared, name: 'api', include: ['tests/api/**/*.test.ts'], isolate: false } },
      {
        resolve,
        ssr,
        plugins,
        test: {
          ...shared,
          name: 'e2e',
          include: ['tests/e2e/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        resolve,
        ssr,
        plugins,
        test: {
          ...shared,
          name: 'faults',
          include: ['tests/faults/**/*.test.ts'],
          testTimeout: 300_000,
          // Servers have one thread for files, so that the calls of a thread can be counted.
          env: { ...shared.env, UV_THREADPOOL_SIZE: '1' },
        },
      },
      { resolve, ssr, plugins, test: { name: 'bench', include: [], benchmark: { include: ['bench/**/*.bench.ts'] } } },
    ],
  },
});
