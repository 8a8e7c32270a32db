/** Status, snapshot and messages of loaded and of folded sessions, over random histories with long texts. */
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { features } from '#server/features/features.ts';
import { createColdFolds } from '#server/sessions/reading/cold-folds.ts';
import { createSemaphore } from '#server/async/semaphore.ts';
import type { LiveSession } from '#server/sessions/live/session.ts';
import { createSessionReads, type ReadSession } from '#server/sessions/reading/session-reads.ts';
import { openAgentSession, type AgentSession } from '#support/agent-session.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { seeded } from '#support/random.ts';
import { createDriver, drive } from '#support/session-histories.ts';
import { SESSION_ID } from '#support/session-logs.ts';
import { temporaryHome } from '#support/temporary-home.ts';

let opened: AgentSession;
/** Reads as if the session were not loaded here. */
let readCold: ReadSession;
beforeEach(async () => {
  opened = await openAgentSession({ dir: await temporaryHome() });
  onTestFinished(() => opened.log.close());
  readCold = readsOf(() => undefined);
});

function readsOf(live: () => LiveSession | undefined): ReadSession {
  const { log, session } = opened;
  const projections = features.flatMap((feature) => feature.projection ?? []);
  return createSessionReads({
    live: { get: live, loaded: async () => undefined, directory: () => log.dir },
    folds: createColdFolds({ slots: createSemaphore(1), holder: leaseHolder(), projections }),
    index: {
      ready: async () => undefined,
      stored: () => ({ header: session.row(), revision: 1, journalLength: log.length }),
    },
    defaults: session.context.services,
    features,
  });
}

/** All replies, without state of the process and without members of the Session object that come from the index. */
async function answersOf(reader: Awaited<ReturnType<ReadSession>>) {
  const { session, subagents: _subagents, ...snapshot } = await reader.snapshot();
  return {
    snapshot,
    usage: session.usage,
    model: session.agent_config,
    work: [session.busy, session.main_turn_active, session.pending_interaction, session.last_turn_reason],
    status: reader.status(),
    messages: await reader.messages({ page_size: 7 }),
    results: await reader.messages({ role: 'tool', page_size: 3 }),
  };
}

it.each([1, 2, 3])('a folded session answers as the loaded one does, line by line (seed %i)', async (seed) => {
  let lines = 0;
  await drive(opened.log, seed, 120, async () => {
    lines += 1;
    // Only the process that runs an unrecorded operation has it.
    if (opened.log.held) return;
    if (lines % 4 === 0) expect(await answersOf(await readCold(SESSION_ID))).toEqual(await answersOf(opened.reader));
  });
});

it.each([4, 5])(
  'a snapshot is as of its seq, whatever is appended while its texts are read (seed %i)',
  async (seed) => {
    const { log, reader } = opened;
    await drive(log, seed, 60);
    const driver = createDriver(log, seeded(seed + 100));
    for (let round = 0; round < 60; round++) {
      const { seq } = log.position();
      const approvals = reader.approvals();
      const messages = reader.messages({ page_size: 100 });
      const answers = [reader.snapshot(), (await readCold(SESSION_ID)).snapshot()];
      for (let line = 0; line < 3; line++) await driver.step();
      const { items, has_more } = await messages;
      for (const snapshot of await Promise.all(answers)) {
        expect(snapshot).toMatchObject({ as_of_seq: seq, pending_approvals: approvals });
        expect(snapshot.messages).toEqual({ items: items.toReversed(), has_more });
      }
    }
  },
);

it('a session that is loaded during a fold answers from the loaded one', async () => {
  const { log, session } = opened;
  await log.claim();
  let asked = 0;
  const read = readsOf(() => ((asked += 1) > 1 ? session : undefined));
  const reader = await read(SESSION_ID);
  await session.agents.main.context.config.change({ permission: 'yolo' });
  expect(reader.status().permission).toBe('yolo');
  expect(reader.state).toBe(log.state);
});
