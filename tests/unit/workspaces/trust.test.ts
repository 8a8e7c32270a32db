import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { createTrust } from '#server/workspaces/trust.ts';
import { workspaceIdOf } from '#server/workspaces/workspace-root.ts';
import { manualClock } from '#support/manual-clock.ts';
import { temporaryHome } from '#support/temporary-home.ts';

async function openTrust() {
  const home = await temporaryHome();
  const clock = manualClock();
  const root = join(home, 'project');
  await mkdir(root);
  const elsewhere: { directory: string; trusted: boolean; since: number }[] = [];
  const trust = createTrust({
    documents: createDocuments({ home }),
    changed: async () => undefined,
    changedElsewhere: (directory, trusted, since) => void elsewhere.push({ directory, trusted, since }),
    log: createLogger('silent'),
    clock,
  });
  return { home, clock, root, trust, elsewhere, marker: join(home, 'trust', `${workspaceIdOf(root)}.json`) };
}

it('a root and a link to it share their trust', async () => {
  const { home, root, trust } = await openTrust();
  await symlink(root, join(home, 'link'));
  expect(await trust.trusted(root)).toBe(false);
  await trust.trust(join(home, 'link'));
  expect(await trust.trusted(root)).toBe(true);
  await trust.untrust(root);
  await trust.untrust(root);
  expect(await trust.trusted(join(home, 'link'))).toBe(false);
});

it('preserves the time at which a directory was first trusted', async () => {
  const { clock, root, trust, marker } = await openTrust();
  await trust.trust(root);
  const first = JSON.parse(await readFile(marker, 'utf8'));
  expect(first).toEqual({ root, trustedAt: clock.now() });
  clock.advance(1);
  await trust.trust(root);
  expect(JSON.parse(await readFile(marker, 'utf8'))).toEqual(first);
});

it('is not granted by an unreadable marker, or one of another directory', async () => {
  const { root, trust, marker } = await openTrust();
  await trust.trust(root);
  for (const text of ['{ "root"', '{}', JSON.stringify({ root: '/elsewhere', trustedAt: 1 })]) {
    await writeFile(marker, text);
    expect(await trust.trusted(root)).toBe(false);
    await trust.trust(root);
    expect(await trust.trusted(root)).toBe(true);
  }
});

it('uses the path of a missing directory', async () => {
  const { root, trust } = await openTrust();
  await trust.trust(root);
  await rename(root, `${root}-away`);
  expect(await trust.trusted(root)).toBe(true);
  await trust.untrust(root);
  await rename(`${root}-away`, root);
  expect(await trust.trusted(root)).toBe(false);
});

it('reports a marker that was written or removed without it, with the time of the previous read', async () => {
  const { clock, root, trust, marker, elsewhere } = await openTrust();
  await trust.trusted(root);
  const looked = clock.now();
  clock.advance(60_000);
  await mkdir(dirname(marker), { recursive: true });
  await writeFile(marker, JSON.stringify({ root, trustedAt: 1 }));
  expect(await trust.trusted(root)).toBe(true);
  expect(elsewhere).toEqual([{ directory: root, trusted: true, since: looked }]);
  await trust.trusted(root);
  await rm(marker);
  await trust.trusted(root);
  expect(elsewhere.slice(1)).toEqual([{ directory: root, trusted: false, since: looked + 60_000 }]);
});

it('does not report its own changes, even during reads', async () => {
  const { root, trust, elsewhere } = await openTrust();
  await trust.trusted(root);
  for (let at = 0; at < 20; at += 1) {
    await Promise.all([trust.trusted(root), at % 2 ? trust.untrust(root) : trust.trust(root), trust.trusted(root)]);
    await trust.trusted(root);
  }
  expect(elsewhere).toEqual([]);
});
