import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApprovals, type ApprovalQuestion } from '#server/interactions/approvals.ts';
import { createInteractions, INTERACTION_LIFETIME_MS } from '#server/interactions/interactions.ts';
import { event } from '#server/journal/records.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { openLog, temporaryFolder, type OpenedLog } from '#support/session-logs.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let opened: OpenedLog;
let clock: ManualClock;
beforeEach(async () => {
  folder = await temporaryFolder();
  opened = await openLog(folder.path);
  await opened.log.claim();
  opened.log.append([event('main', 'turn.started', { turnId: 0, origin: { kind: 'user' } })]);
  clock = manualClock();
});
afterEach(async () => {
  await opened.log.close();
  await folder.remove();
});

function registry() {
  const { log } = opened;
  const interactions = createInteractions({ log, clock });
  const approvals = createApprovals('s', interactions, clock);
  const pending = () => [...log.state.interactions.approvals.keys()];
  return { log, interactions, approvals, pending, types: () => opened.frames.map(({ type }) => type) };
}

const question = (more: Partial<ApprovalQuestion> = {}): ApprovalQuestion => ({
  agentId: 'main',
  turnId: 0,
  toolCallId: 'c',
  toolName: 'Bash',
  action: 'Running: x',
  display: { kind: 'command', command: 'x' },
  toolInput: { command: 'x' },
  ...more,
});
const signal = () => new AbortController().signal;
const failsWith = (code: number) => expect.objectContaining({ code });

describe('expiry', () => {
  it('occurs after 24 hours, not before', async () => {
    const { approvals, pending } = registry();
    const { id, answer } = approvals.ask(question(), signal());
    clock.advance(24 * 60 * 60 * 1000 - 1);
    expect(pending()).toEqual([id]);
    clock.advance(1);
    expect(await answer).toEqual({ decision: 'cancelled', feedback: 'approval timed out' });
    expect(pending()).toEqual([]);
    await expect(approvals.resolve(id, { decision: 'approved' })).rejects.toEqual(failsWith(41001));
  });

  it('does not occur after an answer', async () => {
    const { approvals, types } = registry();
    const { id, answer } = approvals.ask(question(), signal());
    await approvals.resolve(id, { decision: 'approved' });
    clock.advance(INTERACTION_LIFETIME_MS * 2);
    expect(await answer).toEqual({ decision: 'approved' });
    expect(types().filter((type) => type === 'event.approval.resolved')).toHaveLength(1);
  });

  it('is logged when the journal is no longer writable, and the wait settles', async () => {
    const { approvals, log } = registry();
    const { answer } = approvals.ask(question(), signal());
    await log.close();
    clock.advance(INTERACTION_LIFETIME_MS);
    expect(await answer).toMatchObject({ decision: 'cancelled' });
    expect(opened.warnings).toEqual(['records could not be appended']);
  });
});

it('the end of a turn closes that agent’s approvals of that turn only', async () => {
  const { approvals, interactions, log, pending } = registry();
  const mine = approvals.ask(question(), signal());
  const other = approvals.ask(question({ agentId: 'agent-1' }), signal());
  const later = approvals.ask(question({ turnId: 1 }), signal());
  const drafts = interactions.endTurn('main', 0);
  expect(drafts.map(({ type }) => type)).toEqual(['event.approval.resolved']);
  log.append(drafts);
  expect(pending()).toEqual([other.id, later.id]);
  await expect(approvals.resolve(mine.id, { decision: 'approved' })).rejects.toEqual(failsWith(40902));
});

it('several agents may have pending approvals; the session reports one until the last is answered', async () => {
  const { approvals } = registry();
  const first = approvals.ask(question(), signal());
  const second = approvals.ask(question({ agentId: 'agent-1' }), signal());
  await approvals.resolve(first.id, { decision: 'approved' });
  await approvals.resolve(second.id, { decision: 'rejected' });
  const told = opened.frames.flatMap(({ payload }) => payload.pending_interaction ?? []);
  expect(told).toEqual(['none', 'approval', 'none']);
});

it('one answer wins, and the reply is sent after it is written', async () => {
  const { approvals, types } = registry();
  const { id } = approvals.ask(question(), signal());
  const answers = [1, 2, 3].map(() =>
    approvals.resolve(id, { decision: 'approved' }).then(
      () => types().filter((type) => type === 'event.approval.resolved').length,
      (error: { code: number }) => error.code,
    ),
  );
  expect(await Promise.all(answers)).toEqual([1, 40902, 40902]);
});

it('an answer that cannot be written is refused, and the call does not continue', async () => {
  const { approvals, log } = registry();
  const aborted = new AbortController();
  const { id, answer } = approvals.ask(question(), aborted.signal);
  await appendFile(join(folder.path, 'journal.ndjson'), 'x');
  await expect(approvals.resolve(id, { decision: 'approved' })).rejects.toEqual(failsWith(50003));
  expect(log.readOnly).toBeDefined();
  // The effect of the journal's failure on the turn.
  aborted.abort(new Error('the journal failed'));
  await expect(answer).rejects.toThrow('the journal failed');
});

it('the last 256 ends are retained, also after a load', async () => {
  const { approvals, log } = registry();
  const ids: string[] = [];
  for (let count = 0; count < 257; count++) {
    const { id } = approvals.ask(question(), signal());
    await approvals.resolve(id, { decision: 'cancelled' });
    ids.push(id);
  }
  const again = (id = '') => approvals.resolve(id, { decision: 'approved' });
  await expect(again(ids[0])).rejects.toEqual(failsWith(40404));
  await expect(again(ids[1])).rejects.toEqual(failsWith(40902));
  await log.close();
  opened = await openLog(folder.path);
  const reloaded = registry().approvals;
  await expect(reloaded.resolve(ids[1] ?? '', { decision: 'approved' })).rejects.toEqual(failsWith(40902));
});

it('an abort rejects the wait; the approval stays until its turn ends', async () => {
  const { approvals, interactions, pending } = registry();
  const controller = new AbortController();
  const { id, answer } = approvals.ask(question(), controller.signal);
  controller.abort(new Error('stop'));
  await expect(answer).rejects.toThrow('stop');
  expect(pending()).toEqual([id]);
  // An answer after the abort is too late: the call will not run.
  await expect(approvals.resolve(id, { decision: 'approved' })).rejects.toEqual(failsWith(40902));
  expect(interactions.endTurn('main', 0)).toMatchObject([{ decision: 'cancelled' }]);
  expect(() => approvals.ask(question(), controller.signal)).toThrow('stop');
});
