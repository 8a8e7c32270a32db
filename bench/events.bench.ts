/** From `append` to the last of so many WebSockets of one process: journal, fan-out, batching, sockets, all of it. */
import { afterAll, beforeAll, bench, describe } from 'vitest';
import { WebSocket } from 'ws';
import { event } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { startWorld, type World } from '#support/world.ts';
import { createFigure, report } from './figures.ts';

/** Below what a connection may queue, so that nobody is cut off. */
const EVENTS = 500;
const DELTAS = 2000;
const run = { iterations: 10, time: 0, warmupIterations: 2, warmupTime: 0 };

let world: World;
let log: SessionLog;
let text = 0;

interface Subscriber {
  /** Resolves when a frame has come that holds this text. */
  sees(text: string): Promise<void>;
  close(): void;
}

async function subscriber(sessionId: string): Promise<Subscriber> {
  const { url, token } = world.server;
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/ws`, { headers, perMessageDeflate: false });
  let wanted = '';
  let found = () => {};
  const sees = (part: string) =>
    new Promise<void>((resolve) => {
      wanted = part;
      found = resolve;
    });
  socket.on('message', (data: Buffer) => data.includes(wanted) && found());
  const greeted = sees('"server_hello"');
  await greeted;
  const subscribed = sees('"ack"');
  socket.send(JSON.stringify({ type: 'subscribe', id: 1, payload: { session_ids: [sessionId] } }));
  await subscribed;
  return { sees, close: () => socket.close() };
}

/** Publishes and waits until every subscriber has the last of it. */
async function publish(subscribers: Subscriber[], send: (mark: string) => void): Promise<void> {
  const mark = `mark-${(text += 1)}-end`;
  const seen = subscribers.map((each) => each.sees(mark));
  send(mark);
  await Promise.all(seen);
}

const durable = (mark: string) => {
  for (let n = 1; n < EVENTS; n += 1) log.append([event('main', 'warning', { message: 'x'.repeat(200) })]);
  log.append([event('main', 'warning', { message: mark })]);
};

const deltas = (mark: string) => {
  for (let n = 1; n < DELTAS; n += 1) {
    log.volatile('main', 'assistant.delta', { turnId: 0, delta: 'word ' }, { offset: 5 * (n - 1) });
  }
  log.volatile('main', 'thinking.delta', { turnId: 0, delta: mark }, { offset: 0 });
};

const cases = [
  { name: `${EVENTS} durable events to 1 socket`, sockets: 1, amount: EVENTS, send: durable },
  { name: `${EVENTS} durable events to 50 sockets`, sockets: 50, amount: EVENTS, send: durable },
  { name: `${DELTAS} deltas to 1 socket`, sockets: 1, amount: DELTAS, send: deltas },
  { name: `${DELTAS} deltas to 100 sockets`, sockets: 100, amount: DELTAS, send: deltas },
];
const figures = cases.map((each) => ({ ...each, figure: createFigure() }));

beforeAll(async () => {
  world = await startWorld();
  const { id } = await world.session();
  ({ log } = await world.server.app.sessions.open(id));
  await log.claim();
});
afterAll(async () => {
  await world.close();
  for (const { name, sockets, figure } of figures) {
    report(name, figure.perSecond(), 'events/s');
    if (sockets > 1) report('  deliveries', figure.perSecond() * sockets, 'frames/s');
  }
  const [one, fifty] = figures;
  if (one && fifty) report('1 socket against 50', one.figure.perSecond() / fifty.figure.perSecond(), '×');
});

describe('events to subscribers', () => {
  for (const { name, sockets, amount, send, figure } of figures) {
    let subscribers: Subscriber[] = [];
    bench(name, () => figure.measure(amount, () => publish(subscribers, send)), {
      ...run,
      async setup() {
        for (const each of subscribers) each.close();
        subscribers = await Promise.all(Array.from({ length: sockets }, () => subscriber(log.sessionId)));
      },
      teardown() {
        for (const each of subscribers) each.close();
        subscribers = [];
      },
    });
  }
});
