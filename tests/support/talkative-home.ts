/** A home with many sessions that no server has loaded: filling its search index takes a while. */
import { expect } from 'vitest';
import * as z from 'zod';
import { makeBuiltHome, type BuiltHome } from './built-home.ts';
import { eventually } from './patience.ts';
import { integer, seeded } from './random.ts';
import type { ServerClient } from './server-client.ts';
import { spawnServer } from './spawned-server.ts';

/** Turns of each session: a question and an answer with the word `narwhal`. */
export const TURNS = 5;
const WORDS = 1_200;

/** Creates a session with one turn for each prompt, whose answers the model already has; returns its id. */
export async function converse(
  { api }: Pick<ServerClient, 'api'>,
  project: string,
  prompts: readonly string[],
): Promise<string> {
  const session = await api('POST', '/sessions', { metadata: { cwd: project } });
  const { id } = z.object({ id: z.string() }).parse(session.data);
  for (const prompt of prompts) {
    await api('POST', `/sessions/${id}/prompts`, { content: [{ type: 'text', text: prompt }] });
    await eventually(async () => {
      const { data } = await api('GET', `/sessions/${id}`);
      expect(data).toMatchObject({ busy: false, last_turn_reason: 'completed' });
    });
  }
  return id;
}

/** Creates the home with this number of sessions. */
export async function makeTalkativeHome(sessions: number): Promise<BuiltHome> {
  const built = await makeBuiltHome();
  const random = seeded(sessions);
  const server = await spawnServer({ home: built.home });
  const turns = Array.from({ length: TURNS }, (_, turn) => turn);
  for (const turn of turns) {
    const words = Array.from({ length: WORDS }, () => integer(random, 1e6).toString(36));
    built.model.enqueue({ text: `A narwhal was seen ${turn} times. ${words.join(' ')}` });
  }
  const prompts = turns.map((turn) => `How often was a narwhal seen? ${turn}`);
  const id = await converse(server, built.project, prompts);
  for (let copy = 1; copy < sessions; copy += 1) await server.api('POST', `/sessions/${id}:fork`, {});
  expect(await server.stop()).toBe(0);
  return built;
}
