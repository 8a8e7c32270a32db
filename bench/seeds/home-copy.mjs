// A copy of a seeded home for one measurement.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder, writeConfig } from '../processes.mjs';
import { findSeed, seedSessions } from '../seed-sessions.mjs';

/** Larger homes take longer than a run of all measures: they are seeded before. */
const MOST_SEEDED = 10_000;

/** The seed with so many sessions; undefined for a large one that does not exist. */
export async function seedFor(count, build) {
  return count > MOST_SEEDED ? findSeed(count) : seedSessions({ count, build });
}

/**
 * Copies a seed. Files of sessions are links to those of the seed: servers replace `state.json` and append to journals, so
 * a measurement prompts only sessions that it creates.
 */
export async function copyHome(seed, model, { withSearchIndex = true } = {}) {
  const folder = await temporaryFolder(dirname(seed.home));
  const home = join(folder, 'home');
  mkdirSync(home);
  execFileSync('cp', ['-al', join(seed.home, 'sessions'), home]);
  for (const name of ['workspaces.json', 'server.token', 'device_id']) {
    execFileSync('cp', ['-a', join(seed.home, name), home]);
  }
  mkdirSync(join(home, 'cache'));
  const names = ['index-v*.db*', ...(withSearchIndex ? ['search-v*.db*'] : [])];
  execFileSync('sh', [
    '-c',
    `cp -a ${names.map((name) => `"$0"/${name}`).join(' ')} "$1"`,
    join(seed.home, 'cache'),
    join(home, 'cache'),
  ]);
  writeConfig(home, model.url);
  return { home, remove: () => existsSync(folder) && rmSync(folder, { recursive: true }) };
}
