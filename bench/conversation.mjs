// One conversation on a new server: what the content of its home costs.
import { createClient, follow, heapMiB, openSession } from './client.mjs';
import { startBuilt } from './processes.mjs';
import { median } from './rounds.mjs';

const PROMPTS = 15;

/**
 * Starts a build on a home and runs prompts in a new session, then `also`. Returns the times of the start, the first
 * prompt and later ones (median) in ms, and the heap in MiB.
 */
export async function converse(directory, { home, project }, also = async () => {}) {
  const begun = performance.now();
  const server = await startBuilt(directory, { home, inspect: true });
  const client = createClient(server);
  try {
    await client.send('GET', '/api/v1/healthz');
    const start = performance.now() - begun;
    const session = await openSession(server, client, project);
    const events = await follow(server, [session.id]);
    const first = await session.turn(events, 'Tell me.');
    const later = [];
    for (let n = 0; n < PROMPTS; n += 1) later.push(await session.turn(events, 'Tell me.'));
    await also(client, session);
    const heap = await heapMiB(server.inspectorUrl);
    events.close();
    return { start, first, later: median(later), heap };
  } finally {
    client.close();
    await server.stop('SIGTERM');
  }
}
