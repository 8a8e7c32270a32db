/**
 * System calls that fail while the built server works, one after another; after each the server is killed and started
 * again. Everything that a client saw before the fault and received during it must be there afterwards, and all that it
 * reads then again after the kill, byte for byte. Run by `npm run faults`, not by the check:
 * it takes some minutes and needs strace, without which it is skipped.
 */
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { useBuiltServer } from '#support/built-server.ts';
import type { RecordedRequest, Script } from '#support/model-server.ts';
import { expectContinued, followAll, viewOf, type ClientView, type Known } from './client-view.ts';
import { untilIndexed } from './index-rows.ts';
import { straceMissing, withFault } from './strace.ts';

/** Points that a run must reach, so that it shows something. */
const ENOUGH = 60;
/** What is stored, by names of the files whose calls fail: each takes part in at least one point of a run. */
const AREAS = {
  journal: /\/journal\.ndjson/,
  lease: /\/\.?lock[.-]/,
  index: /\/cache\/index-v/,
  documents: /\/(config\.toml|workspaces\.json|state\.json|trust)/,
  uploads: /\/home\/files\//,
  forks: /\.unfinished-/,
};
/** Effective points of one action and system call, and how many calls are tried for them. */
const POINTS = 4;
const CALLS = 12;

const missing = straceMissing();
if (missing !== undefined) process.stderr.write(`skipped: ${missing}\n`);

const built = useBuiltServer(({ model }) => model.answerBy(answer));
const reached: string[] = [];
const areas = new Set<string>();

const errors: Record<string, string> = {
  openat: 'EMFILE',
  pread64: 'EIO',
  write: 'ENOSPC',
  pwrite64: 'ENOSPC',
  fsync: 'EIO',
  fdatasync: 'EIO',
  ftruncate: 'EIO',
  rename: 'EIO',
  link: 'EIO',
  unlink: 'EIO',
  mkdir: 'ENOSPC',
  getdents64: 'EIO',
  fcntl: 'ENOLCK',
};

/** With which Node loads code. */
const LOADS_CODE = new Set(['openat']);

interface Subject {
  known: Known;
  /** It has a finished turn. */
  session: string;
  /** Another session, so that an action can be done before the one that counts. */
  other: string;
  workspace: string;
  round: number;
  /** The calls that have failed so far. */
  failed: string[];
}

interface Action {
  /** Returns the code of the reply, and adds to what is known. */
  act(subject: Subject): Promise<number>;
  /** Whether the view shows what the action has done. */
  isDone(view: ClientView, subject: Subject): boolean;
}

const idSchema = z.object({ id: z.string() });
const api = (method: string, path: string, body?: unknown) => built.server.api(method, path, body);
const shown = (view: ClientView, id: string) => view.sessions.find((session) => session.id === id);

const messagesSchema = z.array(z.looseObject({ role: z.string() }));

/** Each prompt is answered by a command, a file and a text, wherever its turn begins. */
function answer({ body }: RecordedRequest): Script {
  const messages = messagesSchema.parse(body['messages']);
  const prompt = messages.findLastIndex((message) => /Prompt \d+\./.test(JSON.stringify(message)));
  const results = messages.slice(prompt).filter(({ role }) => role === 'tool').length;
  const scripts: Script[] = [
    { text: 'I look.', calls: [{ name: 'Bash', args: { command: 'echo looked' } }] },
    { calls: [{ name: 'Write', args: { path: 'a.txt', content: 'x\n' } }] },
  ];
  return scripts[results] ?? { text: 'Done.' };
}

async function turn({ session, round }: Subject): Promise<number> {
  // So long that it is kept in a file of its own.
  const content = [{ type: 'text', text: `Prompt ${round}. ${'long '.repeat(15_000)}` }];
  const { code } = await api('POST', `/sessions/${session}/prompts`, { content, permission_mode: 'yolo' });
  await expect.poll(async () => (await api('GET', `/sessions/${session}`)).data).toMatchObject({ busy: false });
  return code;
}

async function upload(known: Known, text: string): Promise<number> {
  const body = new FormData();
  body.append('file', new Blob([text]), 'a.txt');
  const response = await built.server.fetch('/api/v1/files', { method: 'POST', body });
  const { code, data } = z.object({ code: z.number(), data: idSchema.nullable() }).parse(await response.json());
  if (data) known.uploads.add(data.id);
  return code;
}

/** Of replies with a new session. */
async function made(known: Known, path: string, body: unknown): Promise<number> {
  const { code, data } = await api('POST', path, body);
  if (code === 0) known.sessions.add(idSchema.parse(data).id);
  return code;
}

/** Whether each session and upload that was made is there. */
const isAllThere = (view: ClientView, { known }: Subject) =>
  [...known.sessions].every((id) => shown(view, id)) &&
  Object.values(view.uploads).every((text) => text.startsWith('200'));

const actions: Record<string, Action> = {
  turn: {
    act: turn,
    isDone: (view, { session, round }) =>
      JSON.stringify(view.histories[session]?.messages).includes(`Prompt ${round}.`),
  },
  'new session': {
    act: ({ known }) => made(known, '/sessions', { metadata: { cwd: built.base.project } }),
    isDone: isAllThere,
  },
  fork: { act: ({ known, session }) => made(known, `/sessions/${session}:fork`, {}), isDone: isAllThere },
  title: {
    act: async ({ session, round }) => (await api('POST', `/sessions/${session}/profile`, { title: `T${round}` })).code,
    isDone: (view, { session, round }) => shown(view, session)?.title === `T${round}`,
  },
  archive: {
    act: async ({ session, round }) =>
      (await api('POST', `/sessions/${session}:${round % 2 ? 'archive' : 'restore'}`, {})).code,
    isDone: (view, { session, round }) => shown(view, session)?.archived === (round % 2 === 1),
  },
  configuration: {
    act: async ({ round }) =>
      (await api('POST', '/config', { default_permission_mode: round % 2 ? 'auto' : 'yolo' })).code,
    isDone: ({ config }, { round }) =>
      z.object({ default_permission_mode: z.string() }).parse(config).default_permission_mode ===
      (round % 2 ? 'auto' : 'yolo'),
  },
  trust: {
    act: async ({ workspace, round }) =>
      (await api('POST', `/workspaces/${workspace}/${round % 2 ? 'trust' : 'untrust'}`, {})).code,
    isDone: ({ trust }, { workspace, round }) =>
      JSON.stringify(trust[workspace]).includes(`"trusted":${round % 2 === 1}`),
  },
  'name of a workspace': {
    act: async ({ workspace, round }) => (await api('PATCH', `/workspaces/${workspace}`, { name: `W${round}` })).code,
    isDone: ({ workspaces }, { round }) => JSON.stringify(workspaces).includes(`"W${round}"`),
  },
  upload: { act: ({ known, round }) => upload(known, `text ${round}\n`.repeat(1000)), isDone: isAllThere },
};

async function prepare(): Promise<Subject> {
  const session = await built.newSession();
  const other = await built.newSession();
  const known: Known = { sessions: new Set([session, other]), uploads: new Set() };
  const { items } = z.object({ items: z.array(idSchema).min(1) }).parse(await built.ok('GET', '/workspaces'));
  const subject = { known, session, other, workspace: items[0]?.id ?? '', round: 0, failed: [] };
  expect(await turn(subject)).toBe(0);
  expect(await upload(known, 'first')).toBe(0);
  return subject;
}

/**
 * Starts the server again. Where calls that load code would fail, the action is done once before: Node keeps a module
 * that could not be loaded until it is started again.
 */
async function startAgain(action: Action, subject: Subject, syscall: string): Promise<void> {
  await built.restart('SIGTERM');
  if (!LOADS_CODE.has(syscall)) return;
  await viewOf(built, subject.known);
  expect(await action.act({ ...subject, session: subject.other })).toBe(0);
  subject.round += 1;
}

/** Names in the home that only writes under way have. */
async function unfinished(): Promise<string[]> {
  const names = await readdir(built.base.home, { recursive: true });
  return names.filter((name) => /\.tmp-|\.unfinished-|\.lock-/.test(name));
}

/** Whether only calls on files failed: libuv gives up when it cannot wake its own threads, and Node when it loads code. */
const isOfFiles = (calls: string[]) =>
  calls.some((call) => call.includes(built.base.home)) &&
  !calls.some((call) => /\[eventfd\]|\.output|node_modules/.test(call));

interface Fault {
  what: string;
  action: Action;
  subject: Subject;
  /** That of the reply. */
  code: number;
  before: ClientView;
  /** By session: the durable events that a connection received from before the fault until the reply. */
  received: Record<string, string[]>;
}

/**
 * After calls have failed: what a client saw before and meanwhile is there now, what it reads now is there after a kill, and
 * nothing stands in the way of the action.
 */
async function expectWhole({ what, action, subject, code, before, received }: Fault): Promise<void> {
  const unfinishedBefore = new Set(await unfinished());
  const after = await viewOf(built, subject.known);
  expectContinued(what, { before, received, after });
  if (code === 0) expect([what, action.isDone(after, subject)]).toEqual([what, true]);
  if (AREAS.index.test(what)) await untilIndexed(built.base.home, after);
  await built.restart('SIGKILL');
  expect([what, await viewOf(built, subject.known)]).toEqual([what, after]);
  // A file that could not be removed stays, and so may one that was being written at the kill.
  const isOfFault = (path: string) => unfinishedBefore.has(path) && !subject.failed.some((call) => call.includes(path));
  const left = (await unfinished()).filter(isOfFault);
  expect([what, left]).toEqual([what, []]);
  subject.round += 1;
  expect([what, await action.act(subject)]).toEqual([what, 0]);
  expect([what, action.isDone(await viewOf(built, subject.known), subject)]).toEqual([what, true]);
}

const points = Object.entries(actions).flatMap(([name, action]) =>
  Object.entries(errors).map(
    ([syscall, error]) => [`${name} with ${syscall}`, { name, action, syscall, error }] as const,
  ),
);

describe.skipIf(missing !== undefined)('everything that a client saw is there after', () => {
  it.each(points)('%s that fails', async (_title, { name, action, syscall, error }) => {
    const subject = await prepare();
    let count = 0;
    for (let nth = 1; nth <= CALLS && count < POINTS; nth += 1) {
      subject.round += 1;
      await startAgain(action, subject, syscall);
      const before = await viewOf(built, subject.known);
      const received = await followAll(built, subject.known);
      let code: number | undefined;
      let cause: unknown;
      const calls = await withFault(built.server.process, { syscall, error, nth }, async () => {
        code = await action.act(subject).catch((error: unknown) => void (cause = error));
      });
      subject.failed.push(...calls);
      if (calls.length === 0 && built.server.process.signalCode === null) break;
      if (!isOfFiles(calls)) continue;
      const what = `${name}: ${calls.join(' and ')}`;
      if (code === undefined) throw new Error(`no answer after ${what}`, { cause });
      await expectWhole({ what, action, subject, code, before, received: await received() });
      count += 1;
      reached.push(`${name}, ${syscall} ${nth}: reply ${code}`);
      for (const [area, files] of Object.entries(AREAS)) if (files.test(what)) areas.add(area);
    }
  });

  it(`at least ${ENOUGH} calls that failed, and one in each area`, () => {
    process.stdout.write(`${reached.join('\n')}\n${reached.length} points took effect, in ${[...areas].join(', ')}\n`);
    expect(reached.length).toBeGreaterThanOrEqual(ENOUGH);
    expect([...areas].sort()).toEqual(Object.keys(AREAS).sort());
  });
});
