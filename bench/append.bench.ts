/** One journal line: numbered, written, folded, published; against the bare write of the same bytes. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, bench, describe } from 'vitest';
import { event } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { openLog } from '#support/session-logs.ts';
import { createFigure, report } from './figures.ts';

const run = { time: 1000, warmupTime: 200 };
const MESSAGE = 'x'.repeat(200);
const LINE = Buffer.from(
  `${JSON.stringify({ t: Date.now(), r: [{ seq: 1, agent: 'main', type: 'warning', message: MESSAGE }] })}\n`,
);

let folder: string;
let fd: number;
let log: SessionLog;
const bare = createFigure();
const appended = createFigure();
const batched = createFigure();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-'));
  fd = openSync(join(folder, 'bare.ndjson'), 'a');
  ({ log } = await openLog(join(folder, 'session'), { sink: { publish: () => undefined } }));
  await log.claim();
});
afterAll(async () => {
  await log.close();
  closeSync(fd);
  await rm(folder, { recursive: true });
  report('bare writes', bare.perSecond(), 'lines/s');
  report('appends', appended.perSecond(), 'lines/s');
  report('appends in one go of 50', batched.perSecond(), 'lines/s');
  report('one append against a bare write', bare.perSecond() / appended.perSecond(), '×');
  report('one of 50 appends against a bare write', bare.perSecond() / batched.perSecond(), '×');
});

const append = () => log.append([event('main', 'warning', { message: MESSAGE })]);

describe('journal', () => {
  bench('a bare writeSync', () => bare.measure(1, async () => void writeSync(fd, LINE)), run);
  bench('an append', () => appended.measure(1, async () => void append()), run);
  bench(
    '50 appends written together',
    () =>
      batched.measure(50, async () => {
        for (let n = 0; n < 50; n += 1) append();
      }),
    run,
  );
});
