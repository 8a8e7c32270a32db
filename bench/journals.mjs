// Journals longer than a bench would wait for: two turns that were run, of which the second is repeated.
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, follow, openSession } from './client.mjs';
import { startBuilt } from './processes.mjs';

/** The text of a journal whose last turn, of two, is repeated until there are so many. */
export function grown(text, turns) {
  const [header, ...lines] = text.trimEnd().split('\n');
  const holds = (line, type, turnId) =>
    JSON.parse(line).r.some((record) => record.type === type && (turnId === undefined || record.turnId === turnId));
  const begin = lines.findIndex((line) => holds(line, 'turn.started', 1));
  const end = lines.findIndex((line) => holds(line, 'turn.ended', 1));
  const turn = lines.slice(begin, end + 1);
  const startsOf = (some) => some.flatMap((line) => JSON.parse(line).r.flatMap(({ start }) => start ?? []));
  const entries = startsOf(turn)[0] - startsOf(lines.slice(0, begin))[0];
  let seq = Math.max(...lines.slice(0, end + 1).flatMap((line) => JSON.parse(line).r.map((record) => record.seq ?? 0)));
  const more = [];
  for (let number = 2; number < turns; number += 1) {
    for (const line of turn) {
      const batch = JSON.parse(line.replaceAll(/"(msg_|call_)([A-Za-z0-9_]+)"/g, `"$1$2_${number}"`));
      for (const record of batch.r) {
        if (record.seq !== undefined) record.seq = seq += 1;
        if (record.turnId !== undefined) record.turnId = number;
        if (record.start !== undefined) record.start += (number - 1) * entries;
      }
      more.push(JSON.stringify(batch));
    }
  }
  return [header, ...lines.slice(0, end + 1), ...more, ''].join('\n');
}

/** Makes a session of so many turns in a home in which no server runs; returns its id and its folder. */
export async function makeLongSession({ build, home, project }, turns) {
  const server = await startBuilt(build, { home });
  const writer = createClient(server);
  const session = await openSession(server, writer, project);
  const events = await follow(server, [session.id]);
  for (let turn = 0; turn < 2; turn += 1) await session.turn(events, 'READ the file.');
  events.close();
  writer.close();
  await server.stop('SIGTERM');
  const sessions = join(home, 'sessions');
  const [workspace] = await readdir(sessions);
  const folder = join(sessions, workspace, session.id);
  const journal = join(folder, 'journal.ndjson');
  await writeFile(journal, grown(await readFile(journal, 'utf8'), turns));
  return { id: session.id, folder };
}
