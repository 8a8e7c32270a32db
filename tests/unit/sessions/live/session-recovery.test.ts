/** Settling of sessions after a server was killed, with real locks and a real index. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import type { SessionIndex } from '#server/sessions/index/session-index.ts';
import { createSessionRecovery } from '#server/sessions/live/session-recovery.ts';
import { deadOwner, leaseHolder } from '#support/lease-holder.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openIndex, sessionDir, sessionRow } from '../index/index-fixtures.ts';

let home: string;
let index: SessionIndex;
let clock: ManualClock;
let opened: string[];
/** Servers of other machines that are alive. */
let alive: Set<string>;
const lines: string[] = [];

beforeEach(async () => {
  home = await temporaryHome();
  ({ index } = openIndex(home));
  await index.ready();
  clock = manualClock();
  opened = [];
  alive = new Set();
  lines.length = 0;
});

async function openSession(id: string, lock: string | undefined): Promise<void> {
  await mkdir(sessionDir(home, id), { recursive: true });
  if (lock !== undefined) await writeFile(join(sessionDir(home, id), 'lock.1'), lock);
  index.upsert(sessionRow(id, { open: true }), 1);
}

const elsewhere = (serverId: string) =>
  JSON.stringify({ server_id: serverId, machine: 'a container', pid: 1, start: '1' });

function start() {
  const recovery = createSessionRecovery({
    index,
    live: {
      get: () => undefined,
      directory: ({ id }) => sessionDir(home, id),
      open: async (id) => {
        opened.push(id);
        if (id === 'damaged') throw new Error('damaged');
        index.upsert(sessionRow(id), 2);
        throw new Error('nobody looks at the session');
      },
    },
    holder: leaseHolder('server_1', { alive: async (owner) => alive.has(owner.server_id) }),
    log: createLogger('error', (line) => void lines.push(line)),
    clock,
  });
  onTestFinished(() => recovery.close());
  recovery.start();
}

/** Waits for the end of a pass, then advances the clock to the next one. */
async function nextLook(): Promise<void> {
  await eventually(() => expect(clock.waits()).toEqual([60_000]));
  clock.advance(60_000);
}

it('settles sessions of killed servers, and tries one that cannot be loaded only once', async () => {
  await openSession('crashed', deadOwner());
  await openSession('damaged', deadOwner());
  await openSession('never-held', undefined);
  index.upsert(sessionRow('closed'), 1);
  start();
  for (let look = 0; look < 3; look += 1) await nextLook();
  expect(opened).toEqual(['crashed', 'damaged', 'never-held']);
});

it('does not touch a session of a live server, until that server is known to be dead', async () => {
  alive.add('other');
  await openSession('held', elsewhere('other'));
  start();
  await nextLook();
  await nextLook();
  expect(opened).toEqual([]);
  alive.delete('other');
  await nextLook();
  await eventually(() => expect(opened).toEqual(['held']));
});
