// StrykerJS for one folder or file: `npm run mutate` passes its path and tests in the environment.
import { join } from 'node:path';

const { MUTATE_PATH: path = 'server/auth', MUTATE_PARTS: parts = `${path}/**/*.ts` } = process.env;

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: parts.split(' '),
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', join(import.meta.dirname, 'wording.mjs')],
  ignorers: ['wording'],
  vitest: { configFile: join(import.meta.dirname, 'vitest.config.ts'), related: false },
  coverageAnalysis: 'perTest',
  // Mutants of module-level code, such as tables, would need every test of the folder.
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 10_000,
  timeoutFactor: 2,
  tempDirName: 'coverage/mutation/sandbox',
  ignorePatterns: ['.output', '.nitro', '.data', 'coverage', 'web/dist'],
  reporters: ['progress-append-only', 'clear-text', 'json'],
  clearTextReporter: { allowColor: false, allowEmojis: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: `coverage/mutation/${path.replaceAll('/', '-')}.json` },
};
