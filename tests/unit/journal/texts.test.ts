/** Long texts of a session: stored before their drafts, explicit in folds, read at the edges. */
import nodeFs from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { UNSTORED_TEXT_BYTES } from '#server/journal/blobs.ts';
import { foldJournal } from '#server/journal/cold-fold.ts';
import { contextSize } from '#server/journal/context-size.ts';
import { INTERRUPTED_RESULT } from '#server/journal/crash-recovery.ts';
import { createJournalFiles } from '#server/journal/journal-files.ts';
import { readMessages } from '#server/journal/message-pages.ts';
import { readContext, requestMessages } from '#server/journal/projections/context.ts';
import { event, internal, type Draft } from '#server/journal/records.ts';
import { BlobText, type Stored, type Text } from '#server/journal/texts.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { openLog, SESSION_ID, type OpenedLog, useTemporaryFolder } from '#support/session-logs.ts';

const MAIN = 'main';
const folder = useTemporaryFolder();

async function claimed(): Promise<OpenedLog> {
  const opened = await openLog(folder.path);
  await opened.log.claim();
  return opened;
}

const entry = (text: Text): Stored<ContextMessage> => ({
  role: 'user',
  content: [{ type: 'text', text }],
  toolCalls: [],
});
const input = (...messages: Stored<ContextMessage>[]): Draft => ({
  agent: MAIN,
  type: 'context.spliced',
  deleteCount: 0,
  messages,
  x: { cause: 'input' },
});
const context = ({ log }: OpenedLog) => readContext(log.state.context, MAIN);
const lineCount = async () =>
  (await readFile(join(folder.path, 'journal.ndjson'), 'utf8')).trimEnd().split('\n').length;

describe('an append', () => {
  it('accepts a text of 256 KiB; a longer one that was not stored throws without effect', async () => {
    const opened = await claimed();
    const { log } = opened;
    log.append([input(entry('a'.repeat(UNSTORED_TEXT_BYTES)))]);
    const before = await lineCount();
    const long = 'b'.repeat(UNSTORED_TEXT_BYTES + 1);
    for (const draft of [
      input(entry(long)),
      event(MAIN, 'tool.call.started', {
        turnId: 0,
        toolCallId: 'c',
        name: 'Write',
        args: { deep: [{ content: long }] },
      }),
      event(MAIN, 'tool.result', { turnId: 0, toolCallId: 'c', output: long }),
      internal(MAIN, 'agent.prompt', { text: long, sha256: '', cause: 'bound' }),
    ]) {
      expect(() => log.append([draft])).toThrow('was not stored before its append');
    }
    expect(log.readOnly).toBeUndefined();
    expect(await lineCount()).toBe(before);
    log.append([input(entry(await log.store(long)))]);
    expect(context(opened).entries).toHaveLength(2);
    await log.close();
  });

  it('accepts names of any length, since they originate outside', async () => {
    const { log, durable } = await claimed();
    const name = 'n'.repeat(UNSTORED_TEXT_BYTES + 1);
    log.append([event(MAIN, 'tool.call.started', { turnId: 0, toolCallId: name, name, args: {} })]);
    expect(JSON.parse(String(durable().at(-1))).payload).toMatchObject({ toolCallId: name, name });
    await log.close();
  });

  it('refuses to send a text that was not loaded', async () => {
    const opened = await claimed();
    const { log } = opened;
    log.append([input(entry('c'.repeat(20_000)))]);
    const [kept] = requestMessages(context(opened));
    expect(kept?.content[0]).toMatchObject({ text: expect.any(BlobText) });
    expect(() => log.append([input(...(kept ? [kept] : []))])).toThrow('was not read before its append');
    log.append([input(...(await log.load(kept ? [kept] : [])))]);
    expect(context(opened).entries).toHaveLength(2);
    await log.close();
  });

  it('builds its frames from stored texts, equal to the replay, without reading a file', async () => {
    const { log, durable } = await claimed();
    const output = await log.store(`out ${'d'.repeat(UNSTORED_TEXT_BYTES * 2)}`);
    const { args } = await log.store({ args: { path: 'a', content: `in ${'e'.repeat(40_000)}` } });
    await rm(join(folder.path, 'blobs'), { recursive: true });
    log.append([
      event(MAIN, 'tool.call.started', { turnId: 0, toolCallId: 'c', name: 'Write', args }),
      event(MAIN, 'tool.result', { turnId: 0, toolCallId: 'c', output }),
    ]);
    const sent = durable().map((text) => JSON.parse(text).payload);
    expect(sent[0].args.content).toMatch(/^in e{40000}$/);
    expect(sent[1].output).toMatch(/^out d+$/);
    await log.close();
  });
});

describe('a live session', () => {
  it('reads no blob while it blocks, and estimates a long text as after a load', async () => {
    const read = vi.spyOn(nodeFs, 'readFileSync');
    const opened = await claimed();
    const { log } = opened;
    const text = `${folder.path} ${'é'.repeat(30_000)}`;
    log.append([input(entry(text), entry(await log.store(`2 ${text}`)))]);
    const size = contextSize(context(opened));
    expect(JSON.stringify(await log.load(requestMessages(context(opened))))).toContain(text);
    await log.readMessages([0, 1]);
    await log.close();
    const again = await openLog(folder.path);
    expect(contextSize(context(again))).toBe(size);
    expect(size).toBeGreaterThan(2 * 15_000);
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
  });

  it('a full disk while a text is stored makes the log read-only', async () => {
    const promises = { ...nodeFs.promises, rename: () => Promise.reject(new Error('ENOSPC')) };
    const opened = await openLog(folder.path, { files: createJournalFiles({ ...nodeFs, promises }) });
    await opened.log.claim();
    await expect(opened.log.store('f'.repeat(20_000))).rejects.toMatchObject({ code: 50003 });
    expect(() => opened.log.append([input(entry('g'))])).toThrow(expect.objectContaining({ code: 50003 }));
    expect(await readdir(join(folder.path, 'blobs'))).toEqual([]);
    await opened.log.close();
  });
});

describe('message pages', () => {
  const shown = async ({ log }: OpenedLog) => {
    const { history } = log.state.messages;
    return log.readMessages(history.map((_, place) => place));
  };
  const texts = async (opened: OpenedLog) =>
    (await shown(opened)).map(({ content: [part] }) => part && 'text' in part && part.text);

  function step({ log }: OpenedLog, n: number, text: string): void {
    const at = { turnId: 0, step: n, stepId: `s${n}` };
    log.append([event(MAIN, 'turn.step.started', at)]);
    log.append([
      internal(MAIN, 'step.response', { ...at, parts: [{ type: 'text', text }], calls: [], model: 'm' }),
      event(MAIN, 'turn.step.completed', { ...at, finishReason: 'end_turn' }),
    ]);
  }

  it('are read from the lines, near and far, in the requested order', async () => {
    const opened = await claimed();
    const { log } = opened;
    log.append([input(entry('first'), entry('second'))]);
    // Farther away than what is read in one pass.
    for (let n = 0; n < 60; n += 1) log.append([event(MAIN, 'warning', { message: 'w'.repeat(10_000) })]);
    step(opened, 1, `long ${'x'.repeat(20_000)}`);
    log.append([event(MAIN, 'turn.step.started', { turnId: 0, step: 2, stepId: 's2' })]);
    const all = await shown(opened);
    expect(all.map(({ role, content }) => [role, JSON.stringify(content).length])).toEqual([
      ['user', 32],
      ['user', 33],
      ['assistant', 20_032],
      ['assistant', 2],
    ]);
    expect(await log.readMessages([2, 0])).toEqual([all[2], all[0]]);
    expect(await log.readMessages([7])).toEqual([]);
    await log.close();
    expect(await shown(await openLog(folder.path))).toEqual(all);
  });

  it('reflect an undo and a compaction, and stay unchanged after the request', async () => {
    const opened = await claimed();
    const { log } = opened;
    log.append([input(entry('one'))]);
    step(opened, 1, 'two');
    log.append([input(entry('three'))]);
    const asked = texts(opened);
    log.append([
      event(MAIN, 'context.spliced', { start: 2, deleteCount: 1, messages: [], tokens: 1 }, { cause: 'undo' }),
      event(MAIN, 'context.undone', { turns: 1 }),
    ]);
    log.append([input(entry('four'))]);
    expect(await asked).toEqual(['one', 'two', 'three']);
    expect(await texts(opened)).toEqual(['one', 'two', 'four']);
    log.append([
      event(
        MAIN,
        'context.spliced',
        { start: 0, deleteCount: 3, messages: [entry('four'), entry('summary')], tokens: 1 },
        { cause: 'compaction', from: [2, null] },
      ),
    ]);
    expect(await texts(opened)).toEqual(['one', 'two', 'four', 'summary']);
    await log.close();
    expect(await texts(await openLog(folder.path))).toEqual(['one', 'two', 'four', 'summary']);
  });

  it('include records of the settling, before they are written and after', async () => {
    const opened = await claimed();
    const { log } = opened;
    const at = { turnId: 0, step: 1, stepId: 's1' };
    const calls = [{ id: 'call', name: 'Bash', arguments: '{"command":"ls"}' }];
    log.append([
      event(MAIN, 'turn.started', { turnId: 0, origin: { kind: 'user' } }),
      input(entry('go')),
      event(MAIN, 'turn.step.started', at),
      internal(MAIN, 'step.response', { ...at, parts: [], calls, model: 'm' }),
    ]);
    const crashed = join(folder.path, 'crashed');
    await mkdir(crashed);
    await copyFile(join(folder.path, 'journal.ndjson'), join(crashed, 'journal.ndjson'));
    await log.close();

    const cold = await foldJournal({ dir: crashed, sessionId: SESSION_ID, holder: leaseHolder() });
    const expected = await readMessages(crashed, cold.state.messages, [0, 1, 2], cold.blobs);
    expect(expected.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ type: 'tool_result', tool_call_id: 'call', output: INTERRUPTED_RESULT, is_error: true }],
    });

    let failing = true;
    const openSync: typeof nodeFs.openSync = (...args) => {
      if (failing) throw new Error('EIO');
      return nodeFs.openSync(...args);
    };
    const later = await openLog(crashed, { files: createJournalFiles({ ...nodeFs, openSync }) });
    expect(later.log.claimed).toBe(false);
    expect(await shown(later)).toEqual(expected);
    failing = false;
    await later.log.claim();
    later.log.append([event(MAIN, 'warning', { message: 'next' })]);
    expect(later.log.state.messages.history.every((place) => place.line !== undefined && !place.unwritten)).toBe(true);
    expect(await shown(later)).toEqual(expected);
    await later.log.close();
    const again = await openLog(crashed);
    expect(again.log.state.messages).toEqual(later.log.state.messages);
  });
});
