/** All that a client can read of a server's state, to be compared over a restart. */
import { expect } from 'vitest';
import { z } from 'zod';
import type { BuiltServer } from '#support/built-server.ts';
import { subscribe } from '#support/event-follower.ts';
import { connect } from '#support/ws-client.ts';

const sessionSchema = z.looseObject({
  id: z.string(),
  title: z.string(),
  archived: z.boolean(),
  busy: z.boolean(),
  message_count: z.number(),
});
const sessionsSchema = z.object({ items: z.array(sessionSchema) });
/** The rest of it is about the present, such as the phase of the agent. */
const transcriptSchema = z.object({ items: z.array(z.unknown()) });
const workspacesSchema = z.object({ items: z.array(z.looseObject({ id: z.string() })) });

/** What a test has been given, and may ask for. */
export interface Known {
  sessions: Set<string>;
  uploads: Set<string>;
}

export interface ClientView {
  sessions: z.infer<typeof sessionSchema>[];
  config: unknown;
  workspaces: unknown;
  /** By workspace. */
  trust: Record<string, unknown>;
  /** By session: the durable events as text, the messages and the transcript. */
  histories: Record<string, { events: string[]; messages: unknown; transcript: unknown }>;
  /** By upload: status and text of its download. */
  uploads: Record<string, string>;
}

async function eventsOf(id: string, { server }: BuiltServer): Promise<string[]> {
  const client = await connect(server);
  await subscribe(client, id, { seq: 0 });
  const events = client.durable(id).map((frame) => JSON.stringify(frame));
  await client.close();
  return events;
}

/** Waits until every known session is listed and none is busy. Throws unless everything is answered. */
export async function viewOf(built: BuiltServer, known: Known): Promise<ClientView> {
  const data = (path: string) => built.ok('GET', path);
  const listed = async () => sessionsSchema.parse(await data('/sessions?page_size=100&include_archive=true')).items;
  const waits = async () => {
    const items = await listed();
    const missing = [...known.sessions].filter((id) => !items.some((item) => item.id === id));
    return { missing, busy: items.filter(({ busy }) => busy).map(({ id }) => id) };
  };
  await expect.poll(waits).toEqual({ missing: [], busy: [] });
  const sessions = await listed();
  const workspaces = workspacesSchema.parse(await data('/workspaces'));
  const histories: ClientView['histories'] = {};
  for (const { id } of sessions) {
    histories[id] = {
      events: await eventsOf(id, built),
      messages: await data(`/sessions/${id}/messages?page_size=100`),
      transcript: transcriptSchema.parse(await data(`/sessions/${id}/transcript?agent_id=main&page_size=100`)).items,
    };
  }
  const trust: Record<string, unknown> = {};
  for (const { id } of workspaces.items) trust[id] = await data(`/workspaces/${id}/trust`);
  const uploads: Record<string, string> = {};
  for (const id of known.uploads) {
    const response = await built.server.fetch(`/api/v1/files/${id}`);
    uploads[id] = `${response.status} ${response.ok ? await response.text() : ''}`;
  }
  return { sessions, config: await data('/config'), workspaces, trust, histories, uploads };
}
