#!/usr/bin/env node
// Writes a home with many sessions: a server runs one of each kind (a turn, tools, a subagent, an undo, a fork), the others
// are copies of their journals with ids, times and texts of their own. Homes are cached by version and number of sessions.
//   node bench/seed-sessions.mjs [--sessions <number>] [--seeds <folder>] [--build <folder with .output>]
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient } from './client.mjs';
import { startBuilt, startProgram, writeConfig } from './processes.mjs';
import { recordTemplates } from './seeds/templates.mjs';
import { writeSession } from './seeds/write-session.mjs';

/** Increases with each change of what is written, and of the tables of an index: a filled one is part of the home. */
const VERSION = 3;
const PROJECTS = 40;
/** The kinds of ten sessions of a project; a fork copies the `tool` session three before it. */
const KINDS = ['talk', 'talk', 'talk', 'talk', 'talk', 'tool', 'tool', 'team', 'undone', 'fork'];
const FORKED_BEFORE = 3;
/** Creation of the first session, and the time until the next one. */
const START = Date.parse('2025-01-01T00:00:00Z');
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
/** An inode of ext4 has at most 65,000 names. */
const LINKS = 30_000;

export const seedsFolder = () => join(tmpdir(), 'service-code-seeds');

function writeSessions({ home, templates, projects, count, blobs }) {
  for (let number = 0; number < count; number += 1) {
    const kind = KINDS[number % KINDS.length];
    const blobFolder = join(blobs, String(Math.floor(number / LINKS)));
    if (number % LINKS === 0) {
      mkdirSync(blobFolder, { recursive: true });
      for (const { name, bytes } of Object.values(templates).flatMap(({ blobs: files }) => files)) {
        writeFileSync(join(blobFolder, name), bytes);
      }
    }
    const project = projects[Math.floor(number / KINDS.length) % PROJECTS];
    const createdAt = (of) => START + Math.floor((of * YEAR_MS) / count);
    const forked = number - FORKED_BEFORE;
    const source = kind === 'fork' ? { number: forked, createdAt: createdAt(forked) } : undefined;
    writeSession(home, templates[kind], { number, project, createdAt: createdAt(number), source }, blobFolder);
  }
}

/** Starts a server until both indexes are filled, so that measurements begin with them. */
async function fillIndexes(build, home) {
  const begun = performance.now();
  const server = await startBuilt(build, { home });
  const client = createClient(server, { waitMs: 30 * 60_000 });
  try {
    await client.api('GET', '/sessions?page_size=1');
    const listedMs = performance.now() - begun;
    for (;;) {
      const { index_state: state } = await client.api('POST', '/search', { query: 'filled' });
      if (state.state === 'ready') {
        return { listedMs, filledMs: performance.now() - begun, documents: state.documents };
      }
      await delay(1000);
    }
  } finally {
    client.close();
    await server.stop('SIGTERM');
  }
}

const seedPath = (count, seeds) => join(seeds, `v${VERSION}-${count}`);

/** Facts of a seed that exists; undefined otherwise. */
export function findSeed(count, seeds = seedsFolder()) {
  const folder = seedPath(count, seeds);
  if (!existsSync(join(folder, 'seed.json'))) return undefined;
  return { home: join(folder, 'home'), ...JSON.parse(readFileSync(join(folder, 'seed.json'), 'utf8')) };
}

/**
 * Returns a home with so many sessions and filled indexes, and creates it if it does not exist. It must not be changed:
 * measurements use a copy. Projects are in its folder, because ids of workspaces depend on their paths.
 */
export async function seedSessions({ count, build, seeds = seedsFolder() }) {
  const known = findSeed(count, seeds);
  if (known) return known;
  const folder = seedPath(count, seeds);
  rmSync(folder, { recursive: true, force: true });
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const paths = Array.from({ length: PROJECTS }, (_, place) => join(folder, 'projects', `project-${place + 1}`));
  for (const path of paths) {
    mkdirSync(path, { recursive: true });
    execFileSync('git', ['init', '--quiet', path]);
    writeFileSync(join(path, 'a.txt'), 'one line of the file that is read\n');
  }
  const model = await startProgram('model');
  try {
    writeConfig(home, model.url);
    const { templates, workspaceIds } = await recordTemplates({ build, home, projects: paths });
    const projects = paths.map((cwd, place) => ({ cwd, workspaceId: workspaceIds[place] }));
    for (const name of ['sessions', 'cache', 'events', 'logs']) rmSync(join(home, name), { recursive: true });
    writeSessions({ home, templates, projects, count, blobs: join(folder, 'blobs') });
    const facts = { count, ...(await fillIndexes(build, home)) };
    writeFileSync(join(folder, 'seed.json.new'), JSON.stringify(facts));
    renameSync(join(folder, 'seed.json.new'), join(folder, 'seed.json'));
    return { home, ...facts };
  } finally {
    await model.stop();
  }
}

async function main() {
  const { values } = parseArgs({
    options: {
      sessions: { type: 'string', default: '10000' },
      seeds: { type: 'string', default: seedsFolder() },
      build: { type: 'string', default: join(import.meta.dirname, '..') },
    },
  });
  const count = Number(values.sessions);
  if (!Number.isInteger(count) || count < 1) throw new Error('--sessions: a number from 1');
  const begun = performance.now();
  const seed = await seedSessions({ count, build: resolve(values.build), seeds: resolve(values.seeds) });
  console.log(JSON.stringify(seed), `${((performance.now() - begun) / 1000).toFixed(1)} s`);
}

if (process.argv[1] && resolve(process.argv[1]) === import.meta.filename) await main();
