/** The log files that a line is written to. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createEngineLog } from '#server/logging/engine-log.ts';
import { createLogger, type LogLevel } from '#server/logging/log.ts';
import { temporaryHome } from '#support/temporary-home.ts';

async function setUp(env: NodeJS.ProcessEnv = {}, outputLevel: LogLevel = 'silent') {
  const home = await temporaryHome();
  const session = join(home, 'session');
  await mkdir(session);
  const printed: string[] = [];
  const output = createLogger(outputLevel, (line) => printed.push(line));
  const { log: homeLog, withSessions, close } = createEngineLog({ home, env, output });
  const log = withSessions((id) => (id === 'known' ? session : undefined));
  const messages = (text: string) =>
    text.split('\n').flatMap((line): unknown[] => (line === '' ? [] : [JSON.parse(line).msg]));
  const kept = async (folder: string) => messages(await readFile(join(folder, 'logs', 'service-code.log'), 'utf8'));
  return { home, session, homeLog, log, close, kept, printed: () => messages(printed.join('')) };
}

it('writes info and above, independent of the output’s level', async () => {
  const { home, log, close, kept, printed } = await setUp({}, 'error');
  log.debug('a');
  log.info('b');
  log.error('c');
  await close();
  expect([await kept(home), printed()]).toEqual([['b', 'c'], ['c']]);
});

it.each([
  ['warn', ['warn', 'fatal']],
  [' DEBUG ', ['debug', 'info', 'warn', 'fatal']],
  ['nonsense', ['info', 'warn', 'fatal']],
])('SERVICE_LOG_LEVEL=%s', async (level, expected) => {
  const { home, log, close, kept } = await setUp({ SERVICE_LOG_LEVEL: level });
  for (const each of ['trace', 'debug', 'info', 'warn', 'fatal'] as const) log[each](each);
  await close();
  expect(await kept(home)).toEqual(expected);
});

it('writes nothing when silent', async () => {
  const { home, log, close } = await setUp({ SERVICE_LOG_LEVEL: 'silent' });
  log.fatal('x');
  await close();
  expect(await readdir(home)).toEqual(['session']);
});

it('writes a session’s lines to its file, unmodified', async () => {
  const { home, session, homeLog, log, close, kept } = await setUp();
  homeLog.warn('of the server', { sessionId: 'known' });
  log.warn('of the session', { sessionId: 'known', err: new Error('why') });
  log.warn('of another', { sessionId: 'unknown' });
  await close();
  expect(await kept(home)).toEqual(['of the server', 'of the session', 'of another']);
  const line = await readFile(join(session, 'logs', 'service-code.log'), 'utf8');
  expect(await readFile(join(home, 'logs', 'service-code.log'), 'utf8')).toContain(line);
  expect(JSON.parse(line)).toMatchObject({
    level: 40,
    name: 'service-code',
    pid: process.pid,
    sessionId: 'known',
    err: { message: 'why' },
  });
});

it('has separate limits for both kinds of files', async () => {
  const { home, session, log, close } = await setUp({
    SERVICE_LOG_GLOBAL_MAX_BYTES: '300',
    SERVICE_LOG_GLOBAL_FILES: '4',
    SERVICE_LOG_SESSION_MAX_BYTES: '300',
    SERVICE_LOG_SESSION_FILES: '2',
  });
  for (let n = 0; n < 50; n += 1) log.warn('filled', { sessionId: 'known', n });
  await close();
  const files = async (folder: string) => (await readdir(join(folder, 'logs'))).toSorted();
  const named = (n: number) => `service-code.log${n === 0 ? '' : `.${n}`}`;
  expect(await files(home)).toEqual([0, 1, 2, 3].map(named));
  expect(await files(session)).toEqual([0, 1].map(named));
});

it('logs to the output when the files cannot be written', async () => {
  const { home, log, close, printed } = await setUp({}, 'warn');
  // A file at the path of the folder.
  await writeFile(join(home, 'logs'), '');
  log.warn('one');
  log.warn('two');
  await close();
  expect(printed()).toEqual(['one', 'two', 'the log file cannot be written']);
});
