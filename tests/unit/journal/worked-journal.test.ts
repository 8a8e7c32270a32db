import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireLock } from '#server/journal/lock.ts';
import { requestMessages, readContext } from '#server/journal/projections/context.ts';
import { foldedHeader } from '#server/sessions/index/session-header.ts';
import { isBusy } from '#server/journal/projections/activity.ts';
import { INTERRUPTED_RESULT, settleCrash } from '#server/journal/crash-recovery.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { openLog, SESSION_ID, temporaryFolder } from '#support/session-logs.ts';

const fixture = join(import.meta.dirname, 'fixtures/worked.ndjson');

describe('a journal of two turns, the second interrupted by a crash', () => {
  let dir: string;
  let remove: () => Promise<void>;
  let lines: string[];

  beforeEach(async () => {
    ({ path: dir, remove } = await temporaryFolder());
    const text = (await readFile(fixture, 'utf8')).replaceAll('<interrupted>', INTERRUPTED_RESULT);
    lines = text.trimEnd().split('\n');
  });
  afterEach(() => remove());

  const write = (kept: string[]) => writeFile(join(dir, 'journal.ndjson'), kept.map((line) => `${line}\n`).join(''));

  it('is settled with its last line, and sends a client at cursor 35 the missing events', async () => {
    await write(lines.slice(0, -1));
    const { log, durable, frames } = await openLog(dir);
    await log.close();
    expect((await readFile(join(dir, 'journal.ndjson'), 'utf8')).trimEnd().split('\n')).toEqual(lines);
    expect(frames.map((frame) => frame.seq)).toEqual([36, 37, 38, 39, 40, 41]);
    const replayed: string[] = [];
    for await (const text of log.replay(35, 41)) replayed.push(text);
    expect(replayed).toEqual(durable());
    expect(settleCrash(log.state)).toEqual([]);
  });

  it('folds to the described context, messages and row', async () => {
    await write(lines);
    const { log } = await openLog(dir);
    const context = readContext(log.state.context, 'main');
    const roles = requestMessages(context).map(({ role, toolCallId }) => [role, toolCallId].filter(Boolean).join(' '));
    expect(roles).toEqual([
      'user',
      'user',
      'assistant',
      'tool call_1',
      'assistant',
      'user',
      'assistant',
      'tool call_2',
      'tool call_3',
    ]);
    expect(context.rules).toEqual([{ rule: 'Bash(cat a.txt)', dir: '/p' }]);
    expect(context.anchors.map((anchor) => anchor.length)).toEqual([3, 5, 7]);
    const { history } = log.state.messages;
    const messages = await log.readMessages(history.map((_, index) => index));
    expect(messages.map((message) => message.id).slice(0, 3)).toEqual([
      'msg_P0',
      'msg_session_S1_000001',
      'msg_session_S1_000002',
    ]);
    expect(messages[2]?.content).toEqual([
      { type: 'thinking', thinking: 'Check first.', signature: 'c2ln' },
      { type: 'text', text: 'Running it.' },
      { type: 'tool_use', tool_call_id: 'call_1', tool_name: 'Bash', input: { command: 'cat a.txt' } },
    ]);
    expect(messages.at(-1)?.content).toEqual([
      { type: 'tool_result', tool_call_id: 'call_3', output: INTERRUPTED_RESULT, is_error: true },
    ]);
    const times = messages.map((message) => Date.parse(message.created_at));
    expect(times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0))).toBe(true);
    expect(foldedHeader(log.state, { id: SESSION_ID, workspaceId: 'wd' })).toMatchObject({
      title: 'Show a.txt',
      titleKind: 'replaceable',
      lastPrompt: 'Run the tests',
      createdAt: 1000,
      updatedAt: 9000,
      lastTurnReason: 'cancelled',
      open: false,
    });
    expect(log.state.prompts.get('main')).toEqual({
      used: new Set(['msg_P0', 'msg_P1']),
      open: new Map(),
      entering: [],
    });
    expect(log.state.counters.agents.get('main')?.nextTurnId).toBe(2);
    expect(log.state.usage.get('main')?.total).toEqual({
      inputOther: 1020,
      output: 38,
      inputCacheRead: 1860,
      inputCacheCreation: 0,
    });
  });

  it('reports the turn as running while its owner lives, and settles it after the owner has exited', async () => {
    await write(lines.slice(0, -1));
    const lock = await acquireLock(dir, SESSION_ID, leaseHolder());
    const { log, frames } = await openLog(dir);
    expect(log.position().seq).toBe(35);
    expect(isBusy(log.state.activity)).toBe(true);
    expect([...log.state.interactions.approvals.keys()]).toEqual(['approval_A2']);
    expect([...(log.state.status.agents.get('main')?.runningTools.keys() ?? [])]).toEqual(['call_2']);
    await lock.release();
    await log.refresh();
    expect(frames.map((frame) => frame.type).at(-1)).toBe('event.session.work_changed');
    expect(isBusy(log.state.activity)).toBe(false);
    await log.close();
  });
});
