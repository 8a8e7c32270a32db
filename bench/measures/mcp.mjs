// What twenty MCP servers cost those who do not talk with them: the start, the second prompt, memory.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, follow, heapMiB, openSession } from '../client.mjs';
import { makeHome, startBuilt } from '../processes.mjs';
import { inTurn, median } from '../rounds.mjs';

const SERVERS = 20;
const PROMPTS = 15;
const program = join(import.meta.dirname, '..', 'programs', 'mcp-echo.mjs');

async function homeWith(model, count) {
  const made = await makeHome(model.url);
  const entry = { command: process.execPath, args: [program] };
  const mcpServers = Object.fromEntries(Array.from({ length: count }, (_, n) => [`server_${n}`, entry]));
  await writeFile(join(made.home, 'mcp.json'), JSON.stringify({ mcpServers }));
  return made;
}

async function round(directory, { home, project }) {
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
    const heap = await heapMiB(server.inspectorUrl);
    events.close();
    return { start, first, later: median(later), heap };
  } finally {
    client.close();
    await server.stop('SIGTERM');
  }
}

export async function measureMcp({ builds: [directory], model, quick, report }) {
  const homes = await Promise.all([homeWith(model, SERVERS), homeWith(model, 0)]);
  try {
    const [many, none] = await inTurn(quick ? 2 : 5, homes, (home) => round(directory, home));
    const line = (name, member, aim) =>
      report.line({
        name: `${SERVERS} MCP servers: ${name}`,
        unit: 'ms',
        now: many.map((one) => one[member]),
        against: { name: 'none', values: none.map((one) => one[member]) },
        ...(aim && { aim: { most: aim, of: 'none' } }),
      });
    line('start', 'start', 1.05);
    line('first prompt', 'first');
    line('later prompts, p50', 'later', 1.1);
    report.line({
      name: 'heap of an MCP server',
      unit: 'MiB',
      now: many.map(({ heap }, place) => (heap - none[place].heap) / SERVERS),
      aim: { most: 1 },
    });
  } finally {
    for (const { remove } of homes) remove();
  }
}
