#!/usr/bin/env node
// Measures the built output and prints one line per figure: value, aim, and whether it is met. Build first.
//   node bench/compare.mjs [--before <folder with .output>] [--now <folder>] [--only <name>[,<name>]] [--quick]
//     [--sessions <number>[,<number>]]
// With --before, both builds run alternately in the same run, so that ratios are valid on a machine with other load;
// without it, figures are in units of the CPU of a bare `node:http` request, measured in the same run.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from './client.mjs';
import { measureAcp } from './measures/acp.mjs';
import { measureContents } from './measures/contents.mjs';
import { measureCrowd } from './measures/crowd.mjs';
import { measureDeltas } from './measures/deltas.mjs';
import { measureDirectory } from './measures/directory.mjs';
import { measureFileList } from './measures/file-list.mjs';
import { measureFileSearch } from './measures/file-search.mjs';
import { measureGrowth } from './measures/growth.mjs';
import { measureLists } from './measures/lists.mjs';
import { measureLongSession } from './measures/long-session.mjs';
import { measureMcp } from './measures/mcp.mjs';
import { measureMemory } from './measures/memory.mjs';
import { measurePage } from './measures/page.mjs';
import { measurePageDiff } from './measures/page-diff.mjs';
import { measurePageList } from './measures/page-list.mjs';
import { measurePageStart } from './measures/page-start.mjs';
import { measurePageStream } from './measures/page-stream.mjs';
import { measureRefresh } from './measures/refresh.mjs';
import { measureRequests } from './measures/requests.mjs';
import { measureRun } from './measures/run.mjs';
import { measureSearch } from './measures/search.mjs';
import { measureSessions } from './measures/sessions.mjs';
import { measureSkills } from './measures/skills.mjs';
import { measureSoak } from './measures/soak.mjs';
import { measureStart } from './measures/start.mjs';
import { measureTerminals } from './measures/terminals.mjs';
import { measureFork } from './measures/fork.mjs';
import { measureTranscript } from './measures/transcript.mjs';
import { measureTurns } from './measures/turns.mjs';
import { cpuMs, startProgram } from './processes.mjs';
import { createReport } from './report.mjs';
import { inParallel } from './rounds.mjs';

const measures = {
  start: measureStart,
  run: measureRun,
  acp: measureAcp,
  requests: measureRequests,
  turns: measureTurns,
  sessions: measureSessions,
  deltas: measureDeltas,
  memory: measureMemory,
  growth: measureGrowth,
  long: measureLongSession,
  transcript: measureTranscript,
  fork: measureFork,
  page: measurePage,
  'page-list': measurePageList,
  'page-start': measurePageStart,
  'page-stream': measurePageStream,
  'page-diff': measurePageDiff,
  crowd: measureCrowd,
  list: measureFileList,
  files: measureFileSearch,
  terminals: measureTerminals,
  contents: measureContents,
  mcp: measureMcp,
  skills: measureSkills,
  directory: measureDirectory,
  refresh: measureRefresh,
};
/** Measures that run only if named. */
const long = { soak: measureSoak, lists: measureLists, search: measureSearch };
/** Measures that have not started by then are skipped; the run ends at the latest after `LATEST_MS`. */
const ENOUGH_MS = 10 * 60_000;
const LATEST_MS = 20 * 60_000;
const BARE_REQUESTS = 2000;

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    now: { type: 'string', default: join(import.meta.dirname, '..') },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    sessions: { type: 'string', default: '10000' },
  },
});
/** Sizes of the homes of `lists` and `search`. */
const sessions = options.sessions.split(',').map(Number);
const all = { ...measures, ...long };
const wanted = options.only?.split(',') ?? Object.keys(measures);
for (const name of wanted) {
  if (!(name in all)) throw new Error(`--only: ${name} is none of ${Object.keys(all).join(', ')}`);
}
const builds = [options.now, ...(options.before === undefined ? [] : [options.before])].map((path) => resolve(path));
for (const directory of builds) {
  if (!existsSync(join(directory, '.output', 'server', 'index.mjs'))) throw new Error(`${directory} is not built`);
}

/** The unit: CPU of a POST of a small JSON body in a server without other work. */
async function startBare() {
  const server = await startProgram('bare-server');
  const client = createClient(server);
  const requests = (count) => inParallel(count, 4, () => client.send('POST', '/', { text: 'Tell me.' }));
  await requests(BARE_REQUESTS);
  return {
    async cpuOfRequest() {
      const begun = cpuMs(server.pid);
      await requests(BARE_REQUESTS);
      return (cpuMs(server.pid) - begun) / BARE_REQUESTS;
    },
    async close() {
      client.close();
      await server.stop();
    },
  };
}

const begun = performance.now();
const late = setTimeout(() => {
  console.error('the time is up');
  process.exit(1);
}, LATEST_MS);
const report = createReport((line) => console.log(line));
const model = await startProgram('model');
const bare = await startBare();
console.log(`now: ${builds[0]}${builds[1] ? `, before: ${builds[1]}` : ''}${options.quick ? ', quick' : ''}`);
console.log(`a bare node:http request: ${(await bare.cpuOfRequest()).toFixed(3)} ms CPU\n`);
for (const name of wanted) {
  if (performance.now() - begun > ENOUGH_MS) {
    console.log(`${name}: left out, no time`);
    report.counts.open += 1;
    continue;
  }
  await all[name]({ builds, model, bare, quick: options.quick, sessions, report });
}
await bare.close();
await model.stop();
clearTimeout(late);
const { met, missed, open } = report.counts;
const seconds = ((performance.now() - begun) / 1000).toFixed(0);
console.log(`\n${met} aims met, ${missed} not, ${open} not judged; ${seconds} s`);
process.exit(0);
