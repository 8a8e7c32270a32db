import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty directory, removed after the test. */
export async function temporaryHome(): Promise<string> {
  const home = await mkdtemp(join(await realpath(tmpdir()), 'service-code-test-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}
