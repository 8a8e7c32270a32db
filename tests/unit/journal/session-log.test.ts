import { once } from 'node:events';
import nodeFs from 'node:fs';
import { appendFile, mkdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '#server/errors/service-error.ts';
import { goalProjection } from '#server/features/goals/projection.ts';
import { acquireLock } from '#server/journal/lock.ts';
import type { EventFrame } from '#server/events/frame.ts';
import { readContext, requestMessages } from '#server/journal/projections/context.ts';
import { internal, event, type Draft } from '#server/journal/records.ts';
import { createJournalFiles } from '#server/journal/journal-files.ts';
import { createSessionLog } from '#server/journal/session-log.ts';
import type { Session } from '#schema/rest/session.ts';
import { zeroUsage } from '#server/sessions/index/session-header.ts';
import { noBudget } from '#support/goals.ts';
import { eventually } from '#support/patience.ts';
import { buildProgram, startProgram } from '#support/programs.ts';
import { leaseHolder, suspendableHolder } from '#support/lease-holder.ts';
import { logOptions, openLog, SESSION_ID, temporaryFolder, type OpenedLog } from '#support/session-logs.ts';

const MAIN = 'main';
const warning = (message: string): Draft => event(MAIN, 'warning', { message });
const frameTypes = ({ frames }: OpenedLog) => frames.map((frame) => frame.type);

const session: Session = {
  id: SESSION_ID,
  workspace_id: 'wd_p_000000000000',
  title: '',
  created_at: '2026-01-02T03:04:05.678Z',
  updated_at: '2026-01-02T03:04:05.678Z',
  archived: false,
  busy: false,
  main_turn_active: false,
  pending_interaction: 'none',
  metadata: { cwd: '/p' },
  agent_config: { model: '' },
  usage: zeroUsage,
  permission_rules: [],
  message_count: 0,
  last_seq: 0,
};

const goal = {
  goalId: 'g',
  objective: 'ship',
  status: 'active' as const,
  turnsUsed: 0,
  tokensUsed: 0,
  wallClockMs: 0,
  budget: noBudget,
};

let dir: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  const folder = await temporaryFolder();
  remove = folder.remove;
  dir = join(folder.path, 'session');
});
afterEach(() => remove());

const lines = async () => (await readFile(join(dir, 'journal.ndjson'), 'utf8')).trimEnd().split('\n');
const types = async (): Promise<string[][]> =>
  (await lines()).slice(1).map((line) => JSON.parse(line).r.map((record: { type: string }) => record.type));

describe('a new session', () => {
  it('starts with its header and one line, whose event is published, and is closed without a further record', async () => {
    const { options, told } = logOptions(dir);
    const log = createSessionLog({ ...options, session, titleKind: 'replaceable' });
    expect(log.position()).toEqual({ seq: 1, epoch: log.epoch });
    expect(told.frames.map(({ payload }) => payload)).toEqual([
      { type: 'event.session.created', session, agentId: MAIN, sessionId: SESSION_ID },
    ]);
    await log.close();
    expect(await types()).toEqual([['event.session.created']]);
    expect(JSON.parse(String((await lines())[0]))).toEqual({
      type: 'metadata',
      format: 1,
      session_id: SESSION_ID,
      epoch: log.epoch,
      created_at: Date.parse(session.created_at),
    });
    expect(() => createSessionLog({ ...options, session, titleKind: 'custom' })).toThrow('EEXIST');
  });
});

describe('appending', () => {
  it('writes one line per append immediately, and records the start and end of the process', async () => {
    let writes = 0;
    const writeSync = (fd: number, bytes: Buffer, offset: number, length: number, position: number) => {
      writes += 1;
      return nodeFs.writeSync(fd, bytes, offset, length, position);
    };
    const { log } = await openLog(dir, { files: createJournalFiles({ ...nodeFs, writeSync }) });
    await log.claim();
    writes = 0;
    expect(log.append([warning('a'), internal(MAIN, 'turn.skipped', { turnId: 4 })])).toBe(1);
    expect(log.append([warning('b')])).toBe(2);
    expect(writes).toBe(2);
    expect(log.position().seq).toBe(2);
    expect(log.state.counters.agents.get(MAIN)?.nextTurnId).toBe(5);
    await log.close('idle', [event(MAIN, 'agent.disposed', {}, { reason: 'evicted' })]);
    expect(await types()).toEqual([
      ['session.opened', 'warning', 'turn.skipped'],
      ['warning'],
      ['agent.disposed', 'session.closed'],
    ]);
    expect(() => log.append([warning('late')])).toThrow('closed');
  });

  it('publishes volatile frames in order with the others', async () => {
    const opened = await openLog(dir);
    const { log, frames } = opened;
    await log.claim();
    log.volatile(MAIN, 'assistant.delta', { turnId: 0, delta: 'now' }, { offset: 3 });
    expect(frames).toHaveLength(1);
    log.append([warning('a')]);
    log.volatile(MAIN, 'agent.status.updated', { phase: { kind: 'idle' } }, { transport: true });
    log.append([warning('b')]);
    log.volatile(MAIN, 'assistant.delta', { turnId: 0, delta: 'x' });
    expect(frames.map(({ type, seq, volatile }) => [type, seq, volatile])).toEqual([
      ['assistant.delta', 0, true],
      ['warning', 1, undefined],
      ['agent.status.updated', 1, true],
      ['warning', 2, undefined],
      ['assistant.delta', 2, true],
    ]);
    expect(frames[0]?.offset).toBe(3);
    expect(Object.keys(frames[0]?.payload ?? {})).toEqual(['type', 'time', 'turnId', 'delta', 'agentId', 'sessionId']);
    expect(frames[2]?.payload).toEqual({
      type: 'agent.status.updated',
      phase: { kind: 'idle' },
      agentId: MAIN,
      sessionId: SESSION_ID,
    });
    await log.close();
  });

  it('preserves the order when a listener appends and publishes', async () => {
    const frames: EventFrame[] = [];
    let last = 0;
    const opened: OpenedLog = await openLog(dir, {
      sink: {
        publish(frame) {
          frames.push(frame);
          if (frame.seq !== 1) return;
          last = opened.log.append([warning('echo')]);
          opened.log.volatile(MAIN, 'assistant.delta', { turnId: 0, delta: 'echo' });
        },
      },
    });
    const { log } = opened;
    await log.claim();
    log.append([warning('a'), warning('b')]);
    expect(last).toBe(3);
    expect(frames.map(({ type, seq }) => [type, seq])).toEqual([
      ['warning', 1],
      ['warning', 2],
      ['warning', 3],
      ['assistant.delta', 3],
    ]);
    await log.close();
  });

  it('writes no line with an earlier time than the one before', async () => {
    const { log } = await openLog(dir);
    await log.claim();
    log.append([warning('a')]);
    await log.close();
    const future = Date.now() + 60_000;
    await appendFile(join(dir, 'journal.ndjson'), `{"t":${future},"r":[]}\n`);
    const again = await openLog(dir);
    await again.log.claim();
    again.log.append([warning('b')]);
    await again.log.close();
    const times = (await lines()).slice(1).map((line) => JSON.parse(line).t);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeGreaterThanOrEqual(future);
  });

  it('truncates the messages of a large splice in its frame and in the replay, not in the record', async () => {
    const { log, durable } = await openLog(dir);
    await log.claim();
    const message = (text: string) => ({
      role: 'user' as const,
      content: [{ type: 'text' as const, text }],
      toolCalls: [],
    });
    const overhead = JSON.stringify([message('')]).length;
    const fits = message('x'.repeat(65_536 - overhead));
    const large = message('x'.repeat(65_536 - overhead + 1));
    const splice = (start: number, messages: (typeof fits)[]) =>
      event(MAIN, 'context.spliced', { start, deleteCount: 0, messages, tokens: 1 }, { cause: 'input' });
    log.append([splice(0, [fits]), splice(1, [large])]);
    const payloads = durable().map((text) => JSON.parse(text).payload);
    expect(payloads[0].messages).toEqual([fits]);
    expect(payloads[1]).toMatchObject({ start: 1, messages: [], truncated: true });
    expect(await log.load(requestMessages(readContext(log.state.context, MAIN)))).toEqual([fits, large]);
    const replayed: string[] = [];
    for await (const text of log.replay(0, 2)) replayed.push(text);
    expect(replayed).toEqual(durable());
    await log.close();
  });
});

describe('a failing disk', () => {
  it.each([
    ['a short write', (length: number) => Math.floor(length / 2)],
    ['an error', () => -1],
  ])('%s: no partial line, the log turns read-only and the numbers are reused', async (_name, written) => {
    let full = false;
    const writeSync = (fd: number, bytes: Buffer, offset: number, length: number, position: number) => {
      if (!full) return nodeFs.writeSync(fd, bytes, offset, length, position);
      const room = written(length);
      if (room < 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      return nodeFs.writeSync(fd, bytes, offset, room, position);
    };
    const opened = await openLog(dir, { files: createJournalFiles({ ...nodeFs, writeSync }) });
    const { log, failures } = opened;
    await log.claim();
    log.append([warning('a')]);
    const good = await readFile(join(dir, 'journal.ndjson'), 'utf8');
    full = true;
    const failed = expect.objectContaining({ code: 50003 });
    expect(() => log.append([warning('b')])).toThrow(failed);
    expect(() => log.append([warning('c')])).toThrow(failed);
    expect(failures).toHaveLength(0);
    await Promise.resolve();
    expect(failures).toHaveLength(1);
    expect(log.readOnly).toBeInstanceOf(ServiceError);
    expect(log.position().seq).toBe(1);
    expect(frameTypes(opened)).toEqual(['warning']);
    expect(await readFile(join(dir, 'journal.ndjson'), 'utf8')).toBe(good);
    full = false;
    expect(() => log.append([warning('d')])).toThrow(failed);
    expect(log.attempt([warning('d')])).toBe(false);
    await log.close();
    expect(await readFile(join(dir, 'journal.ndjson'), 'utf8')).toBe(good);
    const again = await openLog(dir);
    await again.log.claim();
    again.log.append([warning('e')]);
    expect(again.log.position().seq).toBe(2);
    await again.log.close();
  });

  it('closes in memory what was open, without writing or publishing it', async () => {
    let full = false;
    const writeSync = (...args: [fd: number, bytes: Buffer, offset: number, length: number, position: number]) => {
      if (full) throw new Error('ENOSPC');
      return nodeFs.writeSync(...args);
    };
    const opened = await openLog(dir, { files: createJournalFiles({ ...nodeFs, writeSync }) });
    const { log } = opened;
    await log.claim();
    log.append([event(MAIN, 'turn.started', { turnId: 0, origin: { kind: 'user' } })]);
    expect(log.unwritten).toEqual([]);
    const before = frameTypes(opened);
    full = true;
    expect(log.attempt([warning('b')])).toBe(false);
    expect(log.state.activity.turns.size).toBe(0);
    expect(log.unwritten.map(({ type }) => type)).toContain('turn.ended');
    expect(log.unwritten.some((record) => 'seq' in record || 'unsent' in record)).toBe(false);
    expect(frameTypes(opened)).toEqual(before);
    await log.close();
    expect((await types()).flat()).not.toContain('turn.ended');
  });

  it('has nothing to close when nothing was open', async () => {
    const told: unknown[] = [];
    const writeSync = () => {
      throw new Error('ENOSPC');
    };
    await (await openLog(dir)).log.close();
    const { log } = await openLog(dir, { files: createJournalFiles({ ...nodeFs, writeSync }) });
    log.listen({ line: (batch) => void told.push(batch), volatile: () => undefined, restarted: () => undefined });
    await expect(log.claim()).rejects.toMatchObject({ code: 50003 });
    expect(log.attempt([warning('b')])).toBe(false);
    expect([log.unwritten, told]).toEqual([[], []]);
    await log.close();
  });

  it('does not change a file that another process has written', async () => {
    const opened = await openLog(dir);
    const { log, failures } = opened;
    await log.claim();
    log.append([warning('a')]);
    await appendFile(join(dir, 'journal.ndjson'), '{"t":1,"r":[]}\n');
    const theirs = await readFile(join(dir, 'journal.ndjson'), 'utf8');
    for (const message of ['b', 'c']) {
      expect(() => log.append([warning(message)])).toThrow(expect.objectContaining({ code: 50003 }));
    }
    await Promise.resolve();
    expect(failures).toHaveLength(1);
    expect(log.position().seq).toBe(1);
    expect(frameTypes(opened)).toEqual(['warning']);
    await log.close();
    expect(await readFile(join(dir, 'journal.ndjson'), 'utf8')).toBe(theirs);
  });

  it('a server that was suspended while another took the lock writes no more', async () => {
    const { holder, suspend } = suspendableHolder();
    const { log, failures, warnings } = await openLog(dir, { holder });
    await log.claim();
    log.append([warning('a')]);
    const before = await readFile(join(dir, 'journal.ndjson'), 'utf8');
    await suspend(join(dir, 'lock'));
    for (const message of ['b', 'c']) {
      expect(() => log.append([warning(message)])).toThrow(expect.objectContaining({ code: 40901 }));
    }
    expect(log.attempt([warning('d')])).toBe(false);
    await Promise.resolve();
    expect(failures).toEqual([expect.objectContaining({ code: 40901 })]);
    expect(warnings).toHaveLength(1);
    expect(log.position().seq).toBe(1);
    await log.close();
    expect(await readFile(join(dir, 'journal.ndjson'), 'utf8')).toBe(before);
  });

  it('a server that was suspended between reading and opening the journal truncates no lines', async () => {
    const path = join(dir, 'journal.ndjson');
    const theirs = '{"t":1,"r":[]}\n';
    let silences = 0;
    const files = createJournalFiles();
    const { log } = await openLog(dir, {
      holder: leaseHolder('server_1', { silences: () => silences }),
      files: {
        ...files,
        openToWrite(folder) {
          nodeFs.writeFileSync(join(dir, 'lock.2'), JSON.stringify(leaseHolder('server_2').self));
          nodeFs.appendFileSync(path, theirs);
          silences += 1;
          return files.openToWrite(folder);
        },
      },
    });
    await expect(log.claim()).rejects.toMatchObject({ code: 40901 });
    expect(await readFile(path, 'utf8')).toBe(theirs);
    await log.close();
  });

  it('a failed background sync makes the log read-only', async () => {
    const fdatasync = (_fd: number, done: (error: Error | null) => void) => done(new Error('EIO'));
    const fs = { ...nodeFs, fdatasync: Object.assign(fdatasync, { __promisify__: nodeFs.fdatasync.__promisify__ }) };
    const { log, failures } = await openLog(dir, { files: createJournalFiles(fs) });
    await log.claim();
    log.append([warning('a')]);
    await eventually(() => expect(failures).toHaveLength(1));
    expect(() => log.append([warning('b')])).toThrow(expect.objectContaining({ code: 50003 }));
    await log.close();
  });

  it('an append without a claim throws and has no effect', async () => {
    const { log, failures } = await openLog(dir);
    expect(log.claimed).toBe(false);
    expect(() => log.append([warning('a')])).toThrow('is not claimed');
    expect(log.readOnly).toBeUndefined();
    await log.claim();
    expect(log.claimed).toBe(true);
    expect(log.append([warning('a')])).toBe(1);
    expect(failures).toEqual([]);
    await log.close();
    expect(log.claimed).toBe(false);
  });

  it('a blob that cannot be written fails the line', async () => {
    const renameSync = () => {
      throw new Error('ENOSPC');
    };
    const { log } = await openLog(dir, { files: createJournalFiles({ ...nodeFs, renameSync }) });
    await log.claim();
    expect(() => log.append([warning('x'.repeat(20_000))])).toThrow(expect.objectContaining({ code: 50003 }));
    expect(await lines()).toHaveLength(1);
    await log.close();
  });
});

describe('loading', () => {
  async function withLines(count: number): Promise<void> {
    const { log } = await openLog(dir);
    await log.claim();
    for (let line = 0; line < count; line += 1) log.append([warning(String(line))]);
    await log.close();
  }

  it('reports the offset of a damaged line and never loads a part of the journal', async () => {
    await withLines(3);
    const path = join(dir, 'journal.ndjson');
    const text = await readFile(path, 'utf8');
    const at = text.indexOf('\n', text.indexOf('"1"')) - 4;
    await writeFile(path, `${text.slice(0, at)}#${text.slice(at + 1)}`);
    const offset = Buffer.byteLength(text.slice(0, text.lastIndexOf('\n', at) + 1));
    await expect(openLog(dir)).rejects.toMatchObject({
      code: 50001,
      message: expect.stringContaining(`byte ${offset}`),
    });
  });

  describe('a record that lacks members of its type', () => {
    const usage = { inputOther: 7, output: 0, inputCacheRead: 0, inputCacheCreation: 0 };
    const booked = { agent: MAIN, type: 'usage.recorded', model: 'm', usage, scope: 'session', purpose: 'p' };
    const lineOf = (...records: object[]) => `${JSON.stringify({ t: Date.now(), r: records })}\n`;
    const incomplete = lineOf(booked, { seq: 3, agent: MAIN, type: 'context.spliced', start: 0, deleteCount: 0 });
    const path = () => join(dir, 'journal.ndjson');

    it('fails the load, reporting the offset of its line', async () => {
      await withLines(2);
      const { size } = await stat(path());
      await appendFile(path(), incomplete + lineOf(booked));
      await expect(openLog(dir)).rejects.toMatchObject({
        code: 50001,
        message: expect.stringContaining(`byte ${size}`),
      });
    });

    it('fails every refresh of a reader alike, without a partial fold of its line', async () => {
      await withLines(2);
      const { log, durable } = await openLog(dir);
      const before = durable().length;
      const { size } = await stat(path());
      await appendFile(path(), incomplete);
      const damaged = { code: 50001, message: expect.stringContaining(`byte ${size}`) };
      for (let time = 0; time < 3; time++) await expect(log.refresh()).rejects.toMatchObject(damaged);
      await truncate(path(), size);
      await appendFile(path(), lineOf(booked, { seq: 3, ...warning('mended') }));
      await log.refresh();
      expect(log.state.usage.get(MAIN)?.total).toEqual(usage);
      expect(log.position().seq).toBe(3);
      expect(durable().slice(before)).toEqual([expect.stringContaining('mended')]);
      await log.close();
    });

    it('of this process is a failed write: no line follows it', async () => {
      const { log, failures } = await openLog(dir);
      await log.claim();
      log.append([warning('a')]);
      const draft = { agent: MAIN, type: 'step.response' } as unknown as Draft;
      log.append([event(MAIN, 'turn.started', { turnId: 0, origin: { kind: 'user' } })]);
      log.append([event(MAIN, 'turn.step.started', { turnId: 0, step: 1, stepId: 's' })]);
      const unwritten = expect.objectContaining({ code: 50003 });
      expect(() => log.append([draft])).toThrow(unwritten);
      expect(() => log.append([warning('b')])).toThrow(unwritten);
      await expect.poll(() => failures).toHaveLength(1);
      await log.close();
    });
  });

  it('truncates a torn last line when it writes, not when it reads', async () => {
    await withLines(2);
    const path = join(dir, 'journal.ndjson');
    const { size } = await stat(path);
    await truncate(path, size - 3);
    const { log } = await openLog(dir);
    expect((await stat(path)).size).toBe(size - 3);
    await log.claim();
    log.append([warning('after')]);
    await log.close();
    expect((await types()).at(-2)).toEqual(['session.opened', 'warning']);
    await openLog(dir);
  });

  it('is available to one process at a time; the owner may check that without a refusal', async () => {
    const { log } = await openLog(dir);
    const other = await openLog(dir);
    await other.log.assertNotHeld();
    await log.claim();
    await log.assertNotHeld();
    await expect(other.log.assertNotHeld()).rejects.toMatchObject({ code: 40901 });
    await log.close();
    await other.log.assertNotHeld();
    await other.log.close();
  });

  it('does not read a file that it writes, nor after its end', async () => {
    const { log } = await openLog(dir);
    await log.claim();
    log.append([warning('a')]);
    const line = '{"t":1,"r":[{"agent":"main","type":"warning","message":"x","seq":2}]}\n';
    await appendFile(join(dir, 'journal.ndjson'), line);
    await log.refresh();
    expect(log.position().seq).toBe(1);
    await log.close();
    await log.refresh();
    expect(log.position().seq).toBe(1);
  });

  it('starts a lost or torn journal from scratch, with another epoch', async () => {
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, 'journal.ndjson'), '{"type":"metadata","form');
    const { log } = await openLog(dir);
    await log.claim();
    log.append([warning('a')]);
    const { epoch } = log;
    await log.close();
    const again = await openLog(dir);
    expect(again.log.epoch).toBe(epoch);
    expect(again.log.position().seq).toBe(1);
  });

  it('reads a newer format and refuses to write it', async () => {
    await withLines(1);
    const [header, ...rest] = await lines();
    const newer = JSON.stringify({ ...JSON.parse(String(header)), format: 2 });
    await writeFile(join(dir, 'journal.ndjson'), [newer, ...rest, ''].join('\n'));
    const { log } = await openLog(dir);
    expect(log.position().seq).toBe(1);
    expect(log.readOnly?.code).toBe(50003);
    await expect(log.claim()).rejects.toMatchObject({ code: 50003 });
  });

  it('reports unknown record types a single time', async () => {
    await withLines(1);
    await appendFile(
      join(dir, 'journal.ndjson'),
      '{"t":1,"r":[{"agent":"main","type":"future.thing"},{"agent":"main","type":"future.thing"}]}\n',
    );
    const { warnings } = await openLog(dir);
    expect(warnings).toHaveLength(1);
  });

  it('pauses an active goal immediately for readers, and writes that only before the next line', async () => {
    const first = await openLog(dir);
    await first.log.claim();
    first.log.append([event(MAIN, 'goal.updated', { snapshot: goal }, { cause: 'created' })]);
    await first.log.close();
    const text = await readFile(join(dir, 'journal.ndjson'), 'utf8');

    const reader = await openLog(dir);
    expect(goalProjection.of(reader.log.state.features).goal).toMatchObject({
      status: 'paused',
      terminalReason: expect.any(String),
    });
    await reader.log.close();
    expect(await readFile(join(dir, 'journal.ndjson'), 'utf8')).toBe(text);

    const writer = await openLog(dir);
    await writer.log.claim();
    expect(await readFile(join(dir, 'journal.ndjson'), 'utf8')).toBe(text);
    writer.log.append([warning('next')]);
    await writer.log.close();
    expect((await types()).slice(-3)).toEqual([['goal.updated'], ['session.opened', 'warning'], ['session.closed']]);
    expect(frameTypes(writer)).toEqual(['warning']);
    expect((await openLog(dir)).log.state).toEqual(writer.log.state);
  });

  it('starts over when another process wrote lines before the waiting records', async () => {
    const plain = await openLog(dir);
    await plain.log.claim();
    plain.log.append([
      internal(MAIN, 'swarm.entered', { trigger: 'manual' }),
      event(MAIN, 'goal.updated', { snapshot: goal }, { cause: 'created' }),
    ]);
    await plain.log.close();
    const reader = await openLog(dir);
    const other = await openLog(dir);
    await other.log.claim();
    other.log.append([warning('theirs')]);
    await other.log.close();
    await Promise.all([reader.log.refresh(), reader.log.claim()]);
    expect(frameTypes(reader)).toEqual(['warning']);
    expect(reader.log.state).toEqual(other.log.state);
    expect(reader.log.unwritten).toEqual([]);
    reader.log.append([warning('mine')]);
    await reader.log.close();
    // The other process has written the waiting records already.
    expect((await types()).slice(-2)).toEqual([['session.opened', 'warning'], ['session.closed']]);
  });
});

describe('two processes', () => {
  it('refuses the second while the first lives, then catches up with its lines', async () => {
    const mine = await openLog(dir);
    const other = await openLog(dir);
    await other.log.claim();
    await expect(mine.log.claim()).rejects.toMatchObject({
      code: 40901,
      message: expect.stringContaining(`session ${SESSION_ID} is held by process ${process.pid}`),
    });
    other.log.append([warning('theirs')]);
    await Promise.all([mine.log.refresh(), mine.log.refresh(), mine.log.refresh()]);
    expect(mine.log.position()).toEqual(other.log.position());
    expect(mine.log.state).toEqual(other.log.state);
    other.log.append([warning('theirs too')]);
    await other.log.close();
    await mine.log.claim();
    mine.log.append([warning('mine')]);
    expect(mine.durable().slice(0, 2)).toEqual(other.durable());
    expect(mine.frames.map((frame) => frame.seq)).toEqual([1, 2, 3]);
    await mine.log.close();
  });

  it('settles open operations of a killed process, for the next one that opens the session', async () => {
    await mkdir(dir, { recursive: true });
    const holder = await buildProgram('session-holder', dir);
    const child = startProgram(holder, [dir]);
    const mine = await once(child, 'message').then(() => openLog(dir));
    expect(mine.log.state.status.agents.get(MAIN)?.turn).toBeDefined();
    await expect(mine.log.claim()).rejects.toMatchObject({ code: 40901, details: { pid: child.pid } });
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    await mine.log.refresh();
    expect(frameTypes(mine)).toEqual(['turn.ended', 'prompt.aborted', 'event.session.work_changed']);
    expect(mine.log.state.activity.outcome).toBe('cancelled');
    await mine.log.close();
    await acquireLock(dir, SESSION_ID, leaseHolder());
  });
});
