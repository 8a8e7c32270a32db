import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createUserFileWriter } from '#server/mcp/config/user-file-writer.ts';
import { createUserServers } from '#server/mcp/config/user-servers.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { createRobbedLock } from '#support/robbed-lock.ts';
import { temporaryHome } from '#support/temporary-home.ts';

it('a change whose lock another server acquired while the process was suspended is refused', async () => {
  const home = await temporaryHome();
  const path = join(home, 'mcp.json.lock');
  const writer = createUserFileWriter(home);
  const config = { transport: 'stdio' as const, command: 'a' };
  const other = createUserServers({ home, lock: createChangeLock({ path, holder: leaseHolder(), writer }) });
  await other.add('a', config);
  const before = await readFile(join(home, 'mcp.json'), 'utf8');
  const user = createUserServers({ home, lock: createRobbedLock(path, writer) });
  const changes = [
    () => user.add('b', config),
    () => user.replace('a', { ...config, command: 'b' }),
    () => user.remove('a'),
  ];
  for (const change of changes) await expect(change()).rejects.toMatchObject({ code: 50003 });
  expect(await readFile(join(home, 'mcp.json'), 'utf8')).toBe(before);
});
