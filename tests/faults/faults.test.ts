/**
 * Fault injection: one system call of the built server fails at a time; afterwards the server is killed and restarted.
 * Everything that a client saw before the fault and received during it must be preserved, and the state that it reads
 * then must be identical after the kill. Run by `npm run faults`, not by the check: it takes some minutes and is
 * skipped without strace.
 */
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { useBuiltServer } from '#support/built-server.ts';
import type { RecordedRequest, Script } from '#support/model-server.ts';
import { expectContinued, followAll, viewOf, type ClientView, type Known } from './client-view.ts';
import { untilIndexed } from './index-rows.ts';
import { straceMissing, withFault } from './strace.ts';

/** Minimum of points per run; fewer would prove little. */
const ENOUGH = 60;
/** Storage areas, by file names of the failing calls: a run must cover each at least once. */
const AREAS = {
  journal: /\/journal\.ndjson/,
  lease: /\/\.?lock[.-]/,
  index: /\/cache\/index-v/,
  documents: /\/(config\.toml|workspaces\.json|state\.json|trust)/,
  uploads: /\/home\/files\//,
  forks: /\.unfinished-/,
};
/** Effective points per action and system call, and how many calls are tried for them. */
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

/** System calls with which Node loads code. */
const LOADS_CODE = new Set(['openat']);

interface Subject {
  known: Known;
  /** Id of a session with a completed turn. */
  session: string;
  /** Id of another session, for running an action before the measured one. */
  other: string;
  workspace: string;
  round: number;
  /** The calls that have failed so far. */
  failed: string[];
  /** Unfinished files that a kill has left. */
  cutOff: Set<string>;
}

interface Action {
  /** Returns the code of the reply, and adds new ids to `known`. */
  act(subject: Subject): Promise<number>;
  /** Whether the view contains the effect of the action. */
  isDone(view: ClientView, subject: Subject): boolean;
}

const idSchema = z.object({ id: z.string() });
const api = (method: string, path: string, body?: unknown) => built.server.api(method, path, body);
const shown = (view: ClientView, id: string) => view.sessions.find((session) => session.id === id);

const messagesSchema = z.array(z.looseObject({ role: z.string() }));

/** Answers each prompt with a command, a file and a text, regardless of the position of its turn. */
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

const approvalsSchema = z.object({ pending_approvals: z.array(z.object({ approval_id: z.string() })) });

/** A call whose permission cannot be determined, because a check failed, asks even in this mode. */
async function approveAll(session: string): Promise<void> {
  const { data } = await api('GET', `/sessions/${session}/snapshot`);
  for (const { approval_id } of approvalsSchema.safeParse(data).data?.pending_approvals ?? []) {
    await api('POST', `/sessions/${session}/approvals/${approval_id}`, { decision: 'approved' });
  }
}

async function turn({ session, round }: Subject): Promise<number> {
  // Long enough to be stored as a blob.
  const content = [{ type: 'text', text: `Prompt ${round}. ${'long '.repeat(15_000)}` }];
  const { code } = await api('POST', `/sessions/${session}/prompts`, { content, permission_mode: 'yolo' });
  await expect
    .poll(async () => {
      const { data } = await api('GET', `/sessions/${session}`);
      await approveAll(session);
      return data;
    })
    .toMatchObject({ busy: false });
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

/** Creates a session; adds its id to `known`. */
async function made(known: Known, path: string, body: unknown): Promise<number> {
  const { code, data } = await api('POST', path, body);
  if (code === 0) known.sessions.add(idSchema.parse(data).id);
  return code;
}

/** Whether every created session and upload is in the view. */
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
  const subject = {
    known,
    session,
    other,
    workspace: items[0]?.id ?? '',
    round: 0,
    failed: [],
    cutOff: new Set<string>(),
  };
  expect(await turn(subject)).toBe(0);
  expect(await upload(known, 'first')).toBe(0);
  return subject;
}

/**
 * Restarts the server. If failing calls may load code, the action runs once before, because Node caches a failed module
 * load until the next start.
 */
async function startAgain(action: Action, subject: Subject, syscall: string): Promise<void> {
  await built.restart('SIGTERM');
  if (!LOADS_CODE.has(syscall)) return;
  await viewOf(built, subject.known);
  expect(await action.act({ ...subject, session: subject.other })).toBe(0);
  subject.round += 1;
}

/** Names in the home that only incomplete writes have. */
async function unfinished(): Promise<string[]> {
  const names = await readdir(built.base.home, { recursive: true });
  return names.filter((name) => /\.tmp-|\.unfinished-|\.lock-/.test(name));
}

/** Whether only file calls failed: libuv aborts if it cannot wake its threads, and Node if it cannot load code. */
const isOfFiles = (calls: string[]) =>
  calls.some((call) => call.includes(built.base.home)) &&
  !calls.some((call) => /\[eventfd\]|\.output|node_modules/.test(call));

interface Fault {
  what: string;
  action: Action;
  subject: Subject;
  /** Code of the reply. */
  code: number;
  before: ClientView;
  /** By session: the durable events that a connection received from before the fault until the reply. */
  received: Record<string, string[]>;
}

/**
 * Asserts after failed calls that everything a client saw is preserved, that the state survives a kill, and that the
 * action works again.
 */
async function expectWhole({ what, action, subject, code, before, received }: Fault): Promise<void> {
  const unfinishedBefore = new Set(await unfinished());
  const after = await viewOf(built, subject.known);
  expectContinued(what, { before, received, after });
  if (code === 0) expect([what, action.isDone(after, subject)]).toEqual([what, true]);
  if (AREAS.index.test(what)) await untilIndexed(built.base.home, after);
  await built.restart('SIGKILL');
  expect([what, await viewOf(built, subject.known)]).toEqual([what, after]);
  // A file whose removal failed may remain, and so may one that was being written at this kill or an earlier one.
  const { failed, cutOff } = subject;
  const isOfFault = (path: string) =>
    unfinishedBefore.has(path) && !cutOff.has(path) && !failed.some((call) => call.includes(path));
  const unfinishedAfter = await unfinished();
  expect([what, unfinishedAfter.filter(isOfFault)]).toEqual([what, []]);
  for (const path of unfinishedAfter) cutOff.add(path);
  subject.round += 1;
  expect([what, await action.act(subject)]).toEqual([what, 0]);
  expect([what, action.isDone(await viewOf(built, subject.known), subject)]).toEqual([what, true]);
}

const points = Object.entries(actions).flatMap(([name, action]) =>
  Object.entries(errors).map(
    ([syscall, error]) => [`${name} with ${syscall}`, { name, action, syscall, error }] as const,
  ),
);

describe.skipIf(missing !== undefined)('everything that a client received is preserved after', () => {
  it.each(points)('%s failing', async (_title, { name, action, syscall, error }) => {
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

  it(`at least ${ENOUGH} calls failed, and one in each area`, () => {
    process.stdout.write(`${reached.join('\n')}\n${reached.length} points took effect, in ${[...areas].join(', ')}\n`);
    expect(reached.length).toBeGreaterThanOrEqual(ENOUGH);
    expect([...areas].sort()).toEqual(Object.keys(AREAS).sort());
  });
});
