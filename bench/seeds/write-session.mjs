// Writes a session from the template of its kind, with an identity, times and texts that depend on its number only.
import { closeSync, linkSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seeded, textsOf } from './texts.mjs';

const ARCHIVED_SHARE = 0.1;

const hex = (random, length) => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');

/** Identity of the session with that number: always the same. */
function identityOf(number) {
  const random = seeded(number * 2 + 2);
  const id = `session_${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-8${hex(random, 3)}-${hex(random, 12)}`;
  const tag = hex(random, 10).toUpperCase();
  return { id, tag, isArchived: random() < ARCHIVED_SHARE };
}

/** The journal of a session, from the template of its kind. */
function journalOf({ parts }, { number, project, createdAt, source }) {
  const own = { ...identityOf(number), createdAt, texts: textsOf(number) };
  const forked = source && { ...identityOf(source.number), createdAt: source.createdAt, texts: textsOf(source.number) };
  const prompts = new Map();
  let answer = '';
  function valueOf({ kind, text, isOwn, isOfSource, isFirst, after }) {
    const from = isOfSource ? forked : own;
    switch (kind) {
      case 'session':
        return isOwn || isOfSource ? from.id : text;
      case 'epoch':
        return `ep_${text.slice(3, 19)}${from.tag}`;
      case 'message':
        return `msg_${from.tag}${text.slice(14)}`;
      case 'prompt':
        if (!prompts.has(text)) prompts.set(text, from.texts.prompt());
        return prompts.get(text);
      case 'answer':
        if (isFirst) answer = from.texts.answer();
        return answer;
      case 'iso':
        return new Date(from.createdAt + after).toISOString();
      case 'time':
        return String(from.createdAt + after);
      case 'workspace':
        return project.workspaceId;
      default:
        return project.cwd;
    }
  }
  const text = parts.map((part) => (typeof part === 'string' ? part : valueOf(part))).join('');
  return { id: own.id, journal: source ? withHistory(text) : text, prompts };
}

/** Corrects the number of copied bytes in a fork's header. */
function withHistory(journal) {
  const start = journal.indexOf('\n') + 1;
  const end = journal.lastIndexOf('\n', journal.indexOf('"type":"forked"')) + 1;
  const header = { ...JSON.parse(journal.slice(0, start)), history: Buffer.byteLength(journal.slice(start, end)) };
  return `${JSON.stringify(header)}\n${journal.slice(start)}`;
}

/**
 * Writes the folder of one session, as a server leaves it. `session` is its number, project, time of creation and, of a
 * fork, its source; `blobFolder` has the files to which its journal refers.
 */
export function writeSession(home, template, session, blobFolder) {
  const { number, project, createdAt, source } = session;
  const { id, journal, prompts } = journalOf(template, session);
  const { isArchived } = identityOf(number);
  const folder = join(home, 'sessions', project.workspaceId, id);
  mkdirSync(join(folder, 'blobs'), { recursive: true });
  writeFileSync(join(folder, 'journal.ndjson'), journal);
  closeSync(openSync(join(folder, 'lock.1'), 'w'));
  for (const { name } of template.blobs) linkSync(join(blobFolder, name), join(folder, 'blobs', name));
  const { state } = template;
  const updatedAt = createdAt + state.updatedAt - state.createdAt;
  const ownPrompts = (recorded) => [...prompts].reduce((known, [prompt, own]) => known.replace(prompt, own), recorded);
  const text = JSON.stringify({
    ...state,
    id,
    cwd: project.cwd,
    title: ownPrompts(state.title),
    lastPrompt: ownPrompts(state.lastPrompt),
    createdAt,
    updatedAt,
    archived: isArchived,
    ...(isArchived && { archivedAt: updatedAt }),
    ...(source && { forkedFrom: identityOf(source.number).id }),
    journalLength: Buffer.byteLength(journal),
  });
  writeFileSync(join(folder, 'state.json'), text);
}
