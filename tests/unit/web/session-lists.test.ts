/** The lists of the page: pages, batches of events, archived sessions. */
import { beforeEach, expect, it } from 'vitest';
import { watch } from 'vue';
import { createRest, type EventFrame, type Session } from '@service-code/client';
import { createSessionLists, type SessionLists } from '../../../web/stores/session-lists.ts';
import { eventually } from '#support/patience.ts';
import { createFakeSocket } from './fake-socket.ts';
import { frameMaker, session } from './session-frames.ts';

const TOTAL = 120;
const idAt = (number: number) => `session_${String(number).padStart(3, '0')}`;

/** The sessions of the server, newest first. */
let stored: Session[];
let requests: string[];
let errors: unknown[];
/** Replies wait for it. */
let gate: Promise<void>;
let lists: SessionLists;
let emit: (frame: EventFrame) => void;

/** A server that knows lists and single sessions. */
async function answer(input: string | URL | Request): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  requests.push(url.pathname.replace('/api/v1/', '') + url.search);
  await gate;
  const reply = (data: unknown) => Response.json({ code: 0, msg: 'success', data, request_id: 'r' });
  const [, id] = /\/sessions\/(.+)$/.exec(url.pathname) ?? [];
  if (id !== undefined) {
    const found = stored.find((other) => other.id === id);
    return found ? reply(found) : Response.json({ code: 40401, msg: 'unknown', data: null, request_id: 'r' });
  }
  if (url.pathname.endsWith('/v2/sessions')) {
    const wanted = url.searchParams.getAll('activity.status');
    const items = stored.filter(
      ({ archived, pending_interaction }) => !archived && wanted.includes(pending_interaction),
    );
    return reply({ items, total: items.length, has_more: false, next_page_token: null });
  }
  if (url.pathname.endsWith('/workspaces')) return reply({ items: [] });
  const size = Number(url.searchParams.get('page_size'));
  const before = url.searchParams.get('before_id');
  const all = stored.filter(({ archived }) => archived === url.searchParams.has('archived_only'));
  const from = before === null ? 0 : all.findIndex((other) => other.id === before) + 1;
  return reply({ items: all.slice(from, from + size), has_more: all.length > from + size });
}

beforeEach(() => {
  requests = [];
  errors = [];
  gate = Promise.resolve();
  stored = Array.from({ length: TOTAL }, (_, number) =>
    session({ id: idAt(number), updated_at: new Date(1.8e12 - number * 1000).toISOString() }),
  );
  const fake = createFakeSocket(() => Promise.reject(new Error('no request')));
  emit = fake.emit;
  const rest = createRest({ baseUrl: 'http://localhost/', token: () => undefined, fetch: answer });
  lists = createSessionLists({ rest, socket: fake.socket }, (error) => errors.push(error));
});

const shown = () => lists.list.value.sessions.map(({ id }) => id);
const archivedShown = () => lists.archived.list.value.sessions.map(({ id }) => id);
const frame = frameMaker();
const archivedEvent = (id: string): EventFrame => {
  const event = frame({ type: 'event.session.archived', payload: { workspace_id: 'wd_shop_000000000000' } });
  if (event.type !== 'event.session.archived') throw new Error('another type');
  return { ...event, session_id: '__global__', payload: { ...event.payload, sessionId: id } };
};
const archive = (id: string) => {
  stored = stored.map((other) => (other.id === id ? { ...other, archived: true } : other));
  emit(archivedEvent(id));
};

it('reads pages until all sessions are listed; concurrent reads share one request', async () => {
  await lists.read();
  expect(shown()).toHaveLength(50);
  await Promise.all([lists.readMore(), lists.readMore()]);
  expect(shown()).toEqual(stored.map(({ id }) => id));
  expect(lists.hasMore.value).toBe(false);
  await lists.readMore();
  expect(requests.filter((request) => request.includes('before_id'))).toHaveLength(1);
});

it('does not use a page that follows an earlier first page', async () => {
  await lists.read();
  let open = () => {};
  gate = new Promise((resolve) => (open = resolve));
  const more = lists.readMore();
  const again = lists.read();
  open();
  await Promise.all([more, again]);
  expect(shown()).toHaveLength(50);
  await lists.readMore();
  expect(shown()).toHaveLength(TOTAL);
});

it('applies hundreds of events in a few changes', async () => {
  await lists.read();
  await lists.readMore();
  let changes = 0;
  watch(lists.list, () => (changes += 1), { flush: 'sync' });
  for (let number = 0; number < 100; number += 1) archive(idAt(number));
  await eventually(() => expect(shown()).toHaveLength(TOTAL - 100));
  expect(changes).toBe(1);
});

it('has events that arrive before and during a read', async () => {
  await lists.read();
  archive(idAt(1));
  let open = () => {};
  gate = new Promise((resolve) => (open = resolve));
  const reading = lists.read();
  archive(idAt(2));
  open();
  await reading;
  expect(shown()).not.toContain(idAt(1));
  expect(shown()).not.toContain(idAt(2));
});

it('reads archived sessions only while they are displayed, and again when others are archived', async () => {
  await lists.read();
  archive(idAt(0));
  await eventually(() => expect(shown()).not.toContain(idAt(0)));
  expect(requests.some((request) => request.includes('archived_only'))).toBe(false);
  await lists.showArchive(true);
  expect(archivedShown()).toEqual([idAt(0)]);
  for (let number = 10; number < 20; number += 1) archive(idAt(number));
  await eventually(() => expect(archivedShown()).toHaveLength(11));
  lists.drop('archived', new Set([idAt(0)]));
  expect(archivedShown()).toHaveLength(10);
  await lists.showArchive(false);
  const before = requests.length;
  archive(idAt(30));
  await eventually(() => expect(shown()).not.toContain(idAt(30)));
  expect(requests).toHaveLength(before);
});

it('includes single sessions that its pages lack, without a gap in the pages', async () => {
  await lists.read();
  stored = stored.map((other) => (other.id === idAt(111) ? { ...other, archived: true } : other));
  await lists.include([idAt(0), idAt(110), idAt(111), 'session_unknown']);
  // Nothing is read for a session that is listed.
  expect(requests.filter((request) => request.startsWith('sessions/'))).toHaveLength(3);
  expect(shown()).toHaveLength(51);
  expect(lists.find(idAt(110))?.id).toBe(idAt(110));
  await lists.readMore();
  expect(shown()).toHaveLength(TOTAL - 1);
  expect(errors).toEqual([]);
});

it('has sessions that wait on later pages, without a moment in which a further read lacks them', async () => {
  const waits = (number: number, pending_interaction: Session['pending_interaction']) => {
    stored = stored.map((other) => (other.id === idAt(number) ? { ...other, pending_interaction } : other));
  };
  waits(3, 'approval');
  waits(100, 'approval');
  waits(110, 'question');
  await lists.read();
  expect(shown()).toEqual([...stored.slice(0, 50).map(({ id }) => id), idAt(100), idAt(110)]);
  expect(requests.filter((request) => request.startsWith('sessions/'))).toHaveLength(2);
  const lacking: string[][] = [];
  watch(lists.list, () => !shown().includes(idAt(110)) && lacking.push(shown()), { flush: 'sync' });
  waits(100, 'none');
  await lists.read();
  expect(lacking).toEqual([]);
  expect(shown()).toHaveLength(51);
  await lists.readMore();
  expect(shown()).toHaveLength(TOTAL);
  expect(errors).toEqual([]);
});

const worked = (id: string): EventFrame => {
  const payload = { busy: true, main_turn_active: true, pending_interaction: 'none' } as const;
  return { ...frame({ type: 'event.session.work_changed', payload }), session_id: id };
};

it('lists a session that works, although its page was not read', async () => {
  await lists.read();
  emit(worked(idAt(99)));
  emit(worked(idAt(99)));
  await eventually(() => expect(shown()).toContain(idAt(99)));
  expect(requests.filter((request) => request.startsWith('sessions/'))).toHaveLength(1);
  expect(shown()).toHaveLength(51);
});

it('does not list a session that was archived while it was read', async () => {
  await lists.read();
  let open = () => {};
  gate = new Promise((resolve) => (open = resolve));
  const found = stored.find(({ id }) => id === idAt(99));
  const including = lists.include([idAt(99)]);
  archive(idAt(99));
  // The reply is older than the event.
  stored = stored.map((other) => (other.id === idAt(99) && found ? found : other));
  open();
  await including;
  expect(shown()).not.toContain(idAt(99));
});
