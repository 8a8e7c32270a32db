// Sessions that a server has run, divided into constant text and the values that differ from session to session.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, follow, openSession, sessionWith } from '../client.mjs';
import { startBuilt } from '../processes.mjs';

/** Prompts of the kinds of sessions; each is replaced by a text of its own. */
const KINDS = {
  talk: ['Tell me, prompt 1.'],
  tool: ['READ the file, prompt 1.', 'Tell me, prompt 2.'],
  team: ['DELEGATE it, prompt 1.'],
  undone: ['Tell me, prompt 1.', 'Tell me, prompt 2.'],
};
/** Follows the copied turns of a `tool` session. */
const FORK_PROMPT = 'Tell me, prompt 3.';

async function untilIdle(client, id) {
  while ((await client.api('GET', `/sessions/${id}`)).busy) await delay(10);
}

async function prompted(server, client, session, prompts) {
  const events = await follow(server, [session.id]);
  for (const text of prompts) {
    await session.turn(events, text);
    // A subagent's prompt completes earlier than its turn.
    await untilIdle(client, session.id);
  }
  events.close();
}

/**
 * Runs a session of each kind in a home in which no server runs. Resolves to the templates by kind, and to the
 * workspace id of each project.
 */
export async function recordTemplates({ build, home, projects }) {
  const server = await startBuilt(build, { home });
  const client = createClient(server);
  const ids = {};
  for (const [kind, prompts] of Object.entries(KINDS)) {
    const session = await openSession(server, client, projects[0]);
    ids[kind] = session.id;
    await prompted(server, client, session, prompts);
  }
  await client.api('POST', `/sessions/${ids.undone}:undo`, { count: 1 });
  const { id } = await client.api('POST', `/sessions/${ids.tool}:fork`, {});
  ids.fork = id;
  await prompted(server, client, sessionWith(client, id), [FORK_PROMPT]);
  const workspaceIds = [];
  for (const cwd of projects) {
    workspaceIds.push((await client.api('POST', '/sessions', { metadata: { cwd } })).workspace_id);
  }
  client.close();
  // Writes the last records and `state.json`.
  await server.stop('SIGTERM');
  const place = { home, workspaceId: workspaceIds[0], cwd: projects[0] };
  const templates = {};
  for (const kind of Object.keys(ids)) {
    templates[kind] = await readTemplate(place, ids[kind], kind === 'fork' ? templates.tool : undefined);
  }
  return { templates, workspaceIds };
}

/** Values of a journal that differ: ids, times, the project, the texts of prompts and answers. */
const VALUES = {
  session: /session_[0-9a-f-]{36}/,
  epoch: /ep_[0-9A-Z]{26}/,
  message: /msg_[0-9A-Z]{26}/,
  prompt: /[A-Z][A-Za-z ]+, prompt \d\./,
  answer: /piece 0 of the answer .*?piece 7 of the answer ?/,
  iso: /\d{4}-\d\d-\d\dT[\d:.]+Z/,
  time: /(?<=[:,])1\d{12}(?=[,}])/,
};
/** Precedes the text of an answer where the model has just given it; elsewhere the text is repeated. */
const ANSWERED = '"parts":[{"type":"text","text":"';
const NEAR = 120;

/** Byte offsets of the lines that a fork has copied; none in another journal. */
function copiedLines(journal) {
  const start = journal.indexOf('\n') + 1;
  const forked = journal.indexOf('"type":"forked"');
  return forked === -1 ? { start, end: start } : { start, end: journal.lastIndexOf('\n', forked) + 1 };
}

/** The journal's values in order, between its constant texts. */
function partsOf(journal, { id, source, createdAt, workspaceId, cwd }) {
  const quoted = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const all = { ...VALUES, workspace: quoted(workspaceId), cwd: quoted(cwd) };
  const names = Object.entries(all).map(([name, pattern]) => `(?<${name}>${pattern.source ?? pattern})`);
  const copied = copiedLines(journal);
  const parts = [];
  let end = 0;
  for (const match of journal.matchAll(new RegExp(names.join('|'), 'g'))) {
    const [kind, text] = Object.entries(match.groups).find(([, found]) => found !== undefined);
    const before = journal.slice(Math.max(0, match.index - NEAR), match.index);
    const isCopied = match.index >= copied.start && match.index < copied.end;
    const time = kind === 'iso' ? Date.parse(text) : Number(text);
    parts.push(journal.slice(end, match.index), {
      kind,
      text,
      isOwn: text === id,
      isOfSource: isCopied || text === source?.id || (kind === 'epoch' && before.includes('"forked_from"')),
      isFirst: kind === 'answer' && before.endsWith(ANSWERED),
      after: time - (isCopied ? source.createdAt : createdAt),
    });
    end = match.index + text.length;
  }
  parts.push(journal.slice(end));
  return parts;
}

/** `source` is the template of which this one is a fork. */
async function readTemplate({ home, workspaceId, cwd }, id, source) {
  const folder = join(home, 'sessions', workspaceId, id);
  const journal = await readFile(join(folder, 'journal.ndjson'), 'utf8');
  const state = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8'));
  const names = await readdir(join(folder, 'blobs'));
  const blobs = await Promise.all(
    names.map(async (name) => ({ name, bytes: await readFile(join(folder, 'blobs', name)) })),
  );
  const { createdAt } = state;
  return { id, createdAt, state, blobs, parts: partsOf(journal, { id, source, createdAt, workspaceId, cwd }) };
}
