/** The state of a server that clients can read, for comparison over a restart. */
import { expect } from 'vitest';
import * as z from 'zod';
import type { BuiltServer } from '#support/built-server.ts';
import { subscribe } from '#support/event-follower.ts';
import { connect, type WsClient } from '#support/ws-client.ts';

const sessionSchema = z.looseObject({
  id: z.string(),
  title: z.string(),
  archived: z.boolean(),
  busy: z.boolean(),
  message_count: z.number(),
});
const sessionsSchema = z.object({ items: z.array(sessionSchema) });
const messagesSchema = z.object({ items: z.array(z.looseObject({ id: z.string() })) });
/** Other members describe the present, such as the phase of the agent. */
const transcriptSchema = z.object({ items: z.array(z.unknown()) });
const workspacesSchema = z.object({
  // The time of the last use is written later: a crash may lose it.
  items: z.array(z.looseObject({ id: z.string() }).transform((item) => ({ ...item, last_opened_at: undefined }))),
});

/** Ids that a test has received. */
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
  /** By session: the durable events as text, the newest messages, newest first, and the transcript. */
  histories: Record<string, { events: string[]; messages: { id: string }[]; transcript: unknown }>;
  /** By upload: status and text of its download. */
  uploads: Record<string, string>;
}

const eventsReceived = (client: WsClient, id: string) => client.durable(id).map((frame) => JSON.stringify(frame));

async function eventsOf(id: string, { server }: BuiltServer): Promise<string[]> {
  const client = await connect(server);
  await subscribe(client, id, { seq: 0 });
  const events = eventsReceived(client, id);
  await client.close();
  return events;
}

/** Subscribes to the known sessions; the returned function closes and returns durable events by session. */
export async function followAll(
  { server }: BuiltServer,
  known: Known,
): Promise<() => Promise<Record<string, string[]>>> {
  const client = await connect(server);
  for (const id of known.sessions) await subscribe(client, id, { seq: 0 });
  return async () => {
    await client.close();
    return Object.fromEntries([...known.sessions].map((id) => [id, eventsReceived(client, id)]));
  };
}

/**
 * Fails unless the earlier view of each session is a prefix of the later one, which also contains everything received
 * meanwhile.
 */
export function expectContinued(
  what: string,
  { before, received, after }: { before: ClientView; received: Record<string, string[]>; after: ClientView },
): void {
  const at = (id: string) => after.histories[id] ?? expect.fail(`${what}: ${id} is missing`);
  for (const [id, { events, messages }] of Object.entries(before.histories)) {
    expect([what, at(id).events.slice(0, events.length)]).toEqual([what, events]);
    // A page contains only the newest messages.
    const start = at(id).messages.findIndex((message) => message.id === messages[0]?.id);
    const shared = start < 0 ? [] : at(id).messages.slice(start);
    expect([what, shared]).toEqual([what, messages.slice(0, start < 0 ? undefined : shared.length)]);
  }
  for (const [id, events] of Object.entries(received)) {
    const replayed = new Set(at(id).events);
    expect([what, events.filter((event) => !replayed.has(event))]).toEqual([what, []]);
    expect([what, new Set(events).size]).toEqual([what, events.length]);
  }
  for (const [id, text] of Object.entries(before.uploads)) {
    expect([what, after.uploads[id]]).toEqual([what, text]);
  }
}

/** Waits until every known session is listed and none is busy. Throws if a request fails. */
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
      messages: messagesSchema.parse(await data(`/sessions/${id}/messages?page_size=100`)).items,
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
