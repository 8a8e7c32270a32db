/** Jobs in a real session: their times, their messages, and that each time fires a single time. */
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest';
import * as z from 'zod';
import { cronTable } from '#server/features/cron/projection.ts';
import { MAX_JOBS } from '#server/features/cron/tools.ts';
import { STALE_MS } from '#server/features/cron/work.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { internal, type CronJob } from '#server/journal/records.ts';
import type { ContextMessage } from '#schema/engine.ts';
import {
  exactCron,
  openAgentSession,
  openTalk,
  scriptedModel,
  textOf,
  type AgentSessionOptions,
  type ModelAnswer,
} from '#support/agent-session.ts';
import { deadOwner, leaseHolder } from '#support/lease-holder.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';
import { temporaryFolder } from '#support/session-logs.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 0, 5, 10, 0, 30);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let clock: ManualClock;
const { TZ } = process.env;
beforeEach(async () => {
  process.env.TZ = 'UTC';
  folder = await temporaryFolder();
  clock = manualClock(START);
});
afterEach(async () => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
  await folder.remove();
});

let calls = 0;
const calling = (name: string, args: object): ModelAnswer => ({ calls: [{ id: `call_${(calls += 1)}`, name, args }] });
const done: ModelAnswer = { text: 'Done.' };

/** Answers when released. */
function held() {
  let release = () => {};
  let begun = () => {};
  const started = new Promise<void>((resolve) => (begun = resolve));
  const answer: ModelAnswer = () =>
    new Promise((resolve) => {
      release = () => resolve({ parts: [{ type: 'text', text: 'Late.' }], calls: [], finishReason: 'completed' });
      begun();
    });
  return { answer, started, release: () => release() };
}

type Talk = Awaited<ReturnType<typeof talkWith>>;

async function talkWith(answers: ModelAnswer[], options: Partial<AgentSessionOptions> = {}) {
  const { services, requests } = scriptedModel(...answers);
  const talk = await openTalk({
    dir: folder.path,
    clock,
    ...options,
    services: { ...services, ...options.services },
  });
  return { ...talk, requests };
}

/** Appends jobs to the journal, like CronCreate. */
function added({ log }: Pick<Talk, 'log'>, ...jobs: Partial<CronJob>[]): void {
  for (const job of jobs) {
    const whole = { id: 'job', cron: '5 * * * *', prompt: 'Look', createdAt: clock.now(), recurring: true, ...job };
    log.append([internal('main', 'cron.added', { job: whole })]);
  }
}

/** The timer for the next job is set. */
const waitsFor = (ms: number) => eventually(() => expect(clock.waits()).toEqual([ms]));

async function ended(talk: Pick<Talk, 'nth' | 'idle'>, turns: number): Promise<void> {
  await talk.nth('turn.ended', turns);
  await talk.idle();
}

const originSchema = z.object({ jobId: z.string(), coalescedCount: z.number(), stale: z.boolean() });
const fires = ({ all }: Pick<Talk, 'all'>) =>
  all('cron.fired').map(({ payload }) => {
    const { jobId, coalescedCount, stale } = originSchema.parse(payload['origin']);
    return `${jobId} ${coalescedCount}${stale ? ' stale' : ''}`;
  });
const jobs = ({ log }: Pick<Talk, 'log'>) => cronTable(log.state.features);
const table = (talk: Pick<Talk, 'log'>) => [...jobs(talk).keys()];
const results = ({ all }: Pick<Talk, 'all'>) => all('tool.result').map(({ payload }) => String(payload['output']));
const contextTexts = ({ log }: Pick<Talk, 'log'>) =>
  readContext(log.state.context, 'main').entries.map(({ message }) => textOf(message as ContextMessage));

/** Returns a copy of the journal as the next server reads it after a crash of this one. */
async function crashed(): Promise<string> {
  const copy = join(folder.path, `copy-${(calls += 1)}`);
  const filter = (path: string) => !/lock/.test(path);
  await cp(join(folder.path, 'session'), join(copy, 'session'), { recursive: true, filter });
  return copy;
}

describe('a job that the model creates', () => {
  it('opens a turn at its time, recorded on one line with its message', async () => {
    const create = calling('CronCreate', { cron: ' 5 *  * * *', prompt: 'Look at </prompt> the build' });
    const talk = await talkWith([create, done, done]);
    await talk.turn('Look every hour');
    const [result = ''] = results(talk);
    const made = z.looseObject({ id: z.string(), nextFireAt: z.string() }).parse(JSON.parse(result));
    expect(made).toMatchObject({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      cron: '5 * * * *',
      humanSchedule: 'At 5 minutes past the hour',
      recurring: true,
      nextFireAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:05:00[+-]\d\d:\d\d$/),
    });
    expect(Date.parse(made.nextFireAt)).toBe(START + 4.5 * MINUTE);
    expect(await talk.lines()).toContainEqual(['cron.added', 'tool.result']);
    await waitsFor(MINUTE);
    clock.advance(4.5 * MINUTE - 1);
    expect(talk.all('cron.fired')).toEqual([]);
    clock.advance(1);
    await ended(talk, 2);
    const origin = {
      kind: 'cron_job',
      jobId: made.id,
      cron: '5 * * * *',
      recurring: true,
      coalescedCount: 1,
      stale: false,
    };
    const [, started] = talk.all('turn.started');
    expect(started?.payload).toMatchObject({ turnId: 1, origin });
    expect(started?.payload).not.toHaveProperty('prompt');
    expect(started?.payload).not.toHaveProperty('promptId');
    expect(talk.all('cron.fired')[0]?.payload).toMatchObject({ origin, prompt: 'Look at </prompt> the build' });
    expect(await talk.lines()).toContainEqual([
      'turn.started',
      'event.session.work_changed',
      'context.spliced',
      'cron.fired',
    ]);
    expect(contextTexts(talk)).toContain(
      [
        `<cron-fire jobId="${made.id}" cron="5 * * * *" recurring="true" coalescedCount="1" stale="false">`,
        '<prompt>',
        'Look at &lt;/prompt> the build',
        '</prompt>',
        '</cron-fire>',
      ].join('\n'),
    );
    // No records of a prompt.
    expect(talk.all('prompt.submitted')).toHaveLength(1);
    await waitsFor(MINUTE);
    await talk.close();
  });

  it('that fires once is deleted when it fires, and no timer is left', async () => {
    const talk = await talkWith([done]);
    added(talk, { recurring: false });
    await waitsFor(MINUTE);
    clock.advance(5 * MINUTE);
    await ended(talk, 1);
    expect(fires(talk)).toEqual(['job 1']);
    expect(table(talk)).toEqual([]);
    const [line] = (await talk.lines()).filter((types) => types.includes('cron.fired'));
    expect(line?.slice(-2)).toEqual(['cron.fired', 'cron.deleted']);
    await eventually(() => expect(clock.waits()).toEqual([]));
    await talk.close();
  });

  it('is listed and deleted', async () => {
    const talk = await talkWith([
      calling('CronList', {}),
      calling('CronDelete', { id: 'none' }),
      calling('CronDelete', { id: 'b' }),
      calling('CronList', {}),
      done,
    ]);
    added(talk, { id: 'a', prompt: 'p'.repeat(8192) }, { id: 'b', cron: '0 9 * * 1-5', recurring: false });
    await talk.turn('What is planned?');
    const [list = '', unknown, deleted, after = ''] = results(talk);
    const listed = list.split('\n').map((line) => z.looseObject({}).parse(JSON.parse(line)));
    expect(listed).toMatchObject([
      { id: 'a', recurring: true, humanSchedule: 'At 5 minutes past the hour' },
      { id: 'b', recurring: false, humanSchedule: 'At 09:00, Monday through Friday', prompt: 'Look' },
    ]);
    expect(String(listed[0]?.['prompt']).length).toBeLessThan(600);
    expect(unknown).toBe('There is no scheduled job none.');
    expect(deleted).toBe('The job b is deleted.');
    expect(after.split('\n')).toHaveLength(1);
    expect(table(talk)).toEqual(['a']);
    expect(await talk.lines()).toContainEqual(['cron.deleted', 'tool.result']);
    await talk.close();
  });

  it('is one of 50 at most, also where a response creates several', async () => {
    const create = (n: number) => ({ id: `c${n}`, name: 'CronCreate', args: { cron: '0 9 * * *', prompt: `x${n}` } });
    const talk = await talkWith([{ calls: [create(1), create(2)] }, done]);
    added(talk, ...Array.from({ length: MAX_JOBS - 1 }, (_, n) => ({ id: `job${n}`, cron: '0 9 * * *' })));
    await talk.turn('More');
    expect(results(talk)).toEqual([expect.stringContaining('nextFireAt'), expect.stringMatching(/^There are 50 jobs/)]);
    expect(table(talk)).toHaveLength(MAX_JOBS);
    await talk.close();
  });
});

describe('while the main agent is busy', () => {
  it('several times pass, and fire as one when it is idle', async () => {
    const first = held();
    const talk = await talkWith([first.answer, done]);
    added(talk, {});
    talk.submit('Work');
    await first.started;
    clock.advance(3 * HOUR);
    expect(talk.all('cron.fired')).toEqual([]);
    first.release();
    await ended(talk, 2);
    expect(fires(talk)).toEqual(['job 3']);
    // The next time is a regular one again.
    expect(jobs(talk).get('job')?.lastFiredAt).toBe(START + 2 * HOUR + 4.5 * MINUTE);
    await talk.close();
  });

  it('queued prompts run first', async () => {
    const first = held();
    const talk = await talkWith([first.answer, done, done, done]);
    added(talk, {});
    talk.submit('Work');
    await first.started;
    clock.advance(HOUR);
    talk.submit('Second');
    talk.submit('Third');
    first.release();
    await ended(talk, 4);
    const origins = talk.all('turn.started').map(({ payload }) => payload['promptId'] ?? 'job');
    expect(origins).toEqual(['p0', 'p1', 'p2', 'job']);
    await talk.close();
  });

  it('a prompt that arrives during the turn of a job waits for its end', async () => {
    const ofJob = held();
    const talk = await talkWith([ofJob.answer, done]);
    added(talk, {});
    await waitsFor(MINUTE);
    clock.advance(5 * MINUTE);
    await ofJob.started;
    talk.submit('Now I');
    expect(talk.all('prompt.queued')).toHaveLength(1);
    ofJob.release();
    await ended(talk, 2);
    expect(fires(talk)).toEqual(['job 1']);
    await talk.close();
  });

  it('jobs also wait for exclusive operations on its conversation', async () => {
    const talk = await talkWith([done]);
    added(talk, {});
    await waitsFor(MINUTE);
    let end = () => {};
    const work = talk.main.exclusively(() => new Promise((resolve) => (end = resolve)));
    clock.advance(5 * MINUTE);
    end();
    await work;
    await ended(talk, 1);
    expect(fires(talk)).toEqual(['job 1']);
    await talk.close();
  });

  it('jobs that are due together have a turn each, the longest due first', async () => {
    const first = held();
    const talk = await talkWith([first.answer, done, done, done]);
    added(talk, { id: 'a', cron: '20 * * * *' }, { id: 'b', cron: '10 * * * *' }, { id: 'c', cron: '20 * * * *' });
    talk.submit('Work');
    await first.started;
    clock.advance(30 * MINUTE);
    first.release();
    await ended(talk, 4);
    expect(fires(talk)).toEqual(['b 1', 'a 1', 'c 1']);
    await talk.close();
  });
});

describe('a turn of a job', () => {
  it('that the user aborts has ended, and its time does not fire again', async () => {
    const ofJob = held();
    const talk = await talkWith([ofJob.answer]);
    added(talk, {});
    await waitsFor(MINUTE);
    clock.advance(5 * MINUTE);
    await ofJob.started;
    talk.main.cancelTurn();
    ofJob.release();
    await ended(talk, 1);
    expect(talk.all('turn.ended')[0]?.payload).toMatchObject({
      reason: 'cancelled',
      interruptReason: 'user_cancelled',
    });
    await waitsFor(MINUTE);
    expect(fires(talk)).toEqual(['job 1']);
    await talk.close();
  });

  it('of which only the beginning is on the disk counts as fired, and does not fire again', async () => {
    const ofJob = held();
    const talk = await talkWith([ofJob.answer]);
    added(talk, { recurring: false, prompt: 'Only once' }, { id: 'hourly' });
    await waitsFor(MINUTE);
    clock.advance(5 * MINUTE);
    await ofJob.started;
    await talk.log.sync();
    const dir = await crashed();
    ofJob.release();
    await talk.close();
    const next = await talkWith([done], { dir });
    await ended(next, 2);
    // The other job, which had no turn yet.
    expect(fires(next)).toEqual(['hourly 1']);
    expect(contextTexts(next).filter((text) => text.includes('Only once'))).toHaveLength(1);
    expect(table(next)).toEqual(['hourly']);
    await next.close();
  });
});

describe('after a restart', () => {
  it('missed times fire as one, and a one-time job fires late', async () => {
    const talk = await talkWith([]);
    added(talk, { id: 'hourly' }, { id: 'once', recurring: false, cron: '30 * * * *' });
    await talk.log.sync();
    const dir = await crashed();
    await talk.close();
    clock = manualClock(START + 24 * HOUR);
    const next = await talkWith([done, done], { dir });
    await ended(next, 2);
    expect(fires(next)).toEqual(['hourly 24', 'once 1']);
    expect(next.all('agent.created')).toHaveLength(1);
    await next.close();
  });

  it('the main agent is created before its first turn, and a session without jobs has no timer', async () => {
    const talk = await talkWith([]);
    added(talk, {});
    await talk.log.sync();
    const dir = await crashed();
    await talk.close();
    const { services } = scriptedModel(done);
    const next = await openAgentSession({ dir, clock, services });
    await waitsFor(MINUTE);
    expect(next.log.claimed).toBe(false);
    clock.advance(5 * MINUTE);
    await eventually(() => expect(next.frames.map(({ type }) => type)).toContain('turn.ended'));
    const durable = next.frames.flatMap(({ type, volatile }) => (volatile ? [] : [type]));
    expect(durable.slice(0, 3)).toEqual(['agent.created', 'turn.started', 'event.session.work_changed']);
    await next.session.end('exit');
    expect(clock.waits()).toEqual([]);
    await next.log.close();
  });
});

describe('an old job', () => {
  it('fires once more and is deleted', async () => {
    const talk = await talkWith([done, done]);
    added(talk, { id: 'old', createdAt: clock.now() - STALE_MS - 1, cron: '0 0 * * *' }, { id: 'new' });
    await ended(talk, 1);
    expect(fires(talk)).toEqual(['old 7 stale']);
    expect(table(talk)).toEqual(['new']);
    expect(contextTexts(talk)).toContainEqual(expect.stringContaining('coalescedCount="7" stale="true"'));
    const [line] = (await talk.lines()).filter((types) => types.includes('cron.fired'));
    expect(line?.slice(-2)).toEqual(['cron.fired', 'cron.deleted']);
    await talk.close();
  });

  it('continues if the configuration says so', async () => {
    const talk = await talkWith([done], { config: { cron: { ...exactCron, noStale: true } } });
    added(talk, { createdAt: clock.now() - STALE_MS - 1, cron: '0 0 * * *' });
    await ended(talk, 1);
    expect(fires(talk)).toEqual(['job 7']);
    expect(table(talk)).toEqual(['job']);
    await talk.close();
  });
});

describe('two servers that have the session loaded', () => {
  const server = (name: string, answers: ModelAnswer[] = []) => {
    const { services } = scriptedModel(...answers);
    return openAgentSession({ dir: folder.path, clock, services, holder: leaseHolder(name) });
  };
  /** Number of records of a type in the journal. */
  const written = async (type: string) =>
    (await readFile(join(folder.path, 'session', 'journal.ndjson'), 'utf8')).split(`"type":"${type}"`).length - 1;

  it('fire a job once, regardless of which is first; the other follows, and takes over after the first one has stopped', async () => {
    const talk = await talkWith([]);
    added(talk, {});
    await talk.close();
    const servers = [await server('one', [done, done]), await server('two', [done, done])];
    await eventually(() => expect(clock.waits()).toEqual([MINUTE, MINUTE]));
    clock.advance(4.5 * MINUTE);
    await eventually(async () => expect(await written('turn.ended')).toBe(1));
    const [writer, other] = servers[0]?.log.claimed ? servers : servers.toReversed();
    if (!writer || !other) throw new Error('there are two');
    // The second server checks again.
    await eventually(() => expect(clock.waits()).toHaveLength(2));
    clock.advance(1000);
    await eventually(() => expect(jobs(other).get('job')?.lastFiredAt).toBe(START + 4.5 * MINUTE));
    expect(other.log.claimed).toBe(false);
    await eventually(() => expect(clock.waits()).toHaveLength(2));
    expect(await written('cron.fired')).toBe(1);
    await writer.session.end('exit');
    await writer.log.close();
    clock.advance(HOUR);
    await eventually(async () => expect(await written('turn.ended')).toBe(2));
    expect(await written('cron.fired')).toBe(2);
    expect(other.log.claimed).toBe(true);
    expect(jobs(other).get('job')?.lastFiredAt).toBe(START + HOUR + 4.5 * MINUTE);
    await other.session.end('exit');
    await other.log.close();
  });

  it('a job that the other one fired during the claim is waited for again', async () => {
    const talk = await talkWith([]);
    added(talk, {});
    await talk.close();
    const dir = join(folder.path, 'session');
    const locks = async () => (await readdir(dir)).filter((name) => name.startsWith('lock.'));
    const [lock = ''] = await locks();
    await writeFile(join(dir, lock), deadOwner());
    const { services } = scriptedModel(done);
    const { alive } = leaseHolder();
    let slow = false;
    let fired = false;
    const one = await openAgentSession({
      dir: folder.path,
      clock,
      services,
      holder: leaseHolder('one', {
        async alive(owner) {
          if (!slow || owner.server_id !== 'gone') return alive(owner);
          slow = false;
          const other = await server('two', [done]);
          await eventually(async () => expect(await written('turn.ended')).toBe(1));
          await other.session.end('exit');
          await other.log.close();
          fired = true;
          return false;
        },
      }),
    });
    await waitsFor(MINUTE);
    slow = true;
    clock.advance(4.5 * MINUTE);
    await eventually(() => expect(fired).toBe(true));
    await waitsFor(MINUTE);
    expect(one.log.claimed).toBe(true);
    clock.advance(HOUR);
    await eventually(async () => expect(await written('turn.ended')).toBe(2));
    expect(jobs(one).get('job')?.lastFiredAt).toBe(START + HOUR + 4.5 * MINUTE);
    await one.session.end('exit');
    await one.log.close();
  });

  it('a job that the other one has added is scheduled as soon as its record is read', async () => {
    const talk = await talkWith([]);
    const other = await server('two');
    added(talk, {});
    await other.log.refresh();
    await eventually(() => expect(clock.waits()).toEqual([MINUTE, MINUTE]));
    await other.session.end('exit');
    await other.log.close();
    await talk.close();
  });
});

test('a job with an invalid expression is reported once, and blocks no other', async () => {
  const talk = await talkWith([done]);
  added(talk, { id: 'odd', cron: '@reboot' }, { id: 'good' });
  await waitsFor(MINUTE);
  clock.advance(5 * MINUTE);
  await ended(talk, 1);
  expect(fires(talk)).toEqual(['good 1']);
  expect(talk.reports).toEqual(['the cron job odd of session_S1 cannot be read']);
  await talk.close();
});

test.each([true, false])('with debug: %s, a job that fires is logged accordingly', async (debug) => {
  const info = vi.fn();
  const config = { cron: { ...exactCron, debug } };
  const talk = await talkWith([done], { config, featureServices: { cron: { log: { info } } } });
  added(talk, {});
  await waitsFor(MINUTE);
  clock.advance(HOUR);
  await ended(talk, 1);
  const facts = { sessionId: 'session_S1', jobId: 'job', count: 1, stale: false };
  expect(info.mock.calls).toEqual(debug ? [['a cron job fires', facts]] : []);
  await talk.close();
});

test('where jobs are switched off there are no tools, no job fires and no session is kept loaded, until they are on again', async () => {
  const cron = { ...exactCron, disabled: true };
  const talk = await talkWith([done, done], { config: { cron } });
  added(talk, {});
  await waitsFor(MINUTE);
  clock.advance(HOUR);
  await talk.turn('Hello');
  expect(fires(talk)).toEqual([]);
  expect(talk.session.keeps()).toBe(false);
  expect(talk.main.tools().map(({ tool }) => tool.name)).not.toContain('CronCreate');
  cron.disabled = false;
  expect(talk.session.keeps()).toBe(true);
  expect(talk.main.tools().map(({ tool }) => tool.name)).toContain('CronCreate');
  clock.advance(MINUTE);
  await ended(talk, 2);
  expect(fires(talk)).toEqual(['job 1']);
  await talk.close();
});

test('an archived session that is still loaded somewhere is not kept loaded for its jobs, and they wait until it is restored', async () => {
  let archived = true;
  const talk = await talkWith([done], { archived: () => archived });
  added(talk, {});
  await waitsFor(MINUTE);
  clock.advance(HOUR);
  await waitsFor(MINUTE);
  expect(fires(talk)).toEqual([]);
  expect(talk.session.keeps()).toBe(false);
  archived = false;
  clock.advance(MINUTE);
  await ended(talk, 1);
  expect(fires(talk)).toEqual(['job 1']);
  await talk.close();
});

test('only the main agent has the tools', async () => {
  const talk = await talkWith([]);
  const names = (agent: Talk['main']) => agent.tools().map(({ tool }) => tool.name);
  expect(names(talk.main)).toContain('CronList');
  const birth = { parentAgentId: 'main', permission: 'manual' as const, runtimeId: undefined };
  await talk.session.agents.create({ ...birth, purpose: 'task' }, (agent) => {
    expect(names(agent)).not.toContain('CronList');
  });
  await talk.close();
});

test('a session that cannot stay loaded records a warning before it is evicted', async () => {
  const talk = await talkWith([]);
  expect(talk.session.keeps()).toBe(false);
  added(talk, {});
  expect(talk.session.keeps()).toBe(true);
  await talk.session.dropped();
  expect(talk.all('warning').map(({ payload }) => payload['code'])).toEqual(['cron-session-limit']);
  await talk.close();
});
