/** The tests that `npm run mutate` runs for one folder, listed in `MUTATE_TESTS`. */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { threadPrograms } from '../../build/threads.ts';

export default defineConfig({
  plugins: [threadPrograms()],
  resolve: { alias: { '#endpoints': join(process.cwd(), 'tests/support/endpoints.ts') } },
  test: {
    include: (process.env.MUTATE_TESTS ?? '').split(' ').map((pattern) => `tests/${pattern}`),
    isolate: false,
    setupFiles: ['tests/mutation/load.ts'],
    env: { SERVICE_CODE_VALIDATE_REPLIES: '1' },
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
