// What twenty MCP servers cost those who do not talk with them: the start, the second prompt, memory.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { converse } from '../conversation.mjs';
import { makeHome } from '../processes.mjs';
import { inTurn } from '../rounds.mjs';

const SERVERS = 20;
const program = join(import.meta.dirname, '..', 'programs', 'mcp-echo.mjs');

async function homeWith(model, count) {
  const made = await makeHome(model.url);
  const entry = { command: process.execPath, args: [program] };
  const mcpServers = Object.fromEntries(Array.from({ length: count }, (_, n) => [`server_${n}`, entry]));
  await writeFile(join(made.home, 'mcp.json'), JSON.stringify({ mcpServers }));
  return made;
}

export async function measureMcp({ builds: [directory], model, quick, report }) {
  const homes = await Promise.all([homeWith(model, SERVERS), homeWith(model, 0)]);
  try {
    const [many, none] = await inTurn(quick ? 2 : 5, homes, (home) => converse(directory, home));
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
