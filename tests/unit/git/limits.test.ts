/** Files of a repository that block their reader or never end. */
import { execFileSync } from 'node:child_process';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openWorkTree } from '#server/git/work-tree.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { groupRuns } from '#server/processes/process-group.ts';
import { gitStatus } from '#server/git/status.ts';
import { createRepository } from '#support/git-repository.ts';
import { temporaryHome } from '#support/temporary-home.ts';

it.each(['.git/index', '.git/config', '.git/info/exclude', '.git/packed-refs'])(
  'a pipe as %s takes no longer than the timeout, and leaves no process',
  async (place) => {
    const repository = await createRepository(await temporaryHome());
    await repository.write({ a: 'a\n' });
    await repository.commit();
    await rm(join(repository.root, place), { force: true });
    execFileSync('mkfifo', [join(repository.root, 'pipe')]);
    await symlink(join(repository.root, 'pipe'), join(repository.root, place));

    const local = createLocalRuntime();
    const groups: number[] = [];
    const runtime: typeof local = {
      ...local,
      async spawn(request) {
        const running = await local.spawn(request);
        groups.push(running.pid);
        return running;
      },
    };
    const { signal } = new AbortController();
    const status = async () => gitStatus(await openWorkTree(repository.root, { runtime, signal, timeoutMs: 500 }), []);
    await expect(status()).rejects.toMatchObject({
      name: 'fs.git_unavailable',
      message: `git unavailable at ${repository.root}: it took more than 0.5 s`,
    });
    expect(groups.length).toBeGreaterThan(0);
    await expect.poll(() => Promise.all(groups.map(groupRuns))).toEqual(groups.map(() => false));
  },
);

it('git that is killed for its memory is reported as unavailable', async () => {
  const repository = await createRepository(await temporaryHome());
  const local = createLocalRuntime();
  const runtime: typeof local = {
    ...local,
    spawn: (request) => local.spawn({ ...request, file: '/bin/sh', args: ['-c', 'kill -KILL $$'] }),
  };
  const { signal } = new AbortController();
  await expect(openWorkTree(repository.root, { runtime, signal })).rejects.toMatchObject({
    message: `git unavailable at ${repository.root}: it needs more than 2 GiB of memory`,
  });
});
