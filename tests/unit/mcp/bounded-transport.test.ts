/** The bounds on the requests and messages of an MCP server, with a fake transport and a fake clock. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { boundedTransport } from '#server/mcp/bounded-transport.ts';
import { until } from '#support/patience.ts';

/** Requests that are handled concurrently, and that wait in addition. */
const HANDLED = 16;
const WAITING = 200;

const notification: JSONRPCMessage = { jsonrpc: '2.0', method: 'notifications/unknown' };
const ping = (id: number | string): JSONRPCMessage => ({ jsonrpc: '2.0', id, method: 'ping' });
const cancel = (requestId: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});
const answer = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: {} });

function setUp(countErrors = true) {
  let ms = 0;
  let closed = 0;
  const received: JSONRPCMessage[] = [];
  const reasons: string[] = [];
  const unsent: (() => void)[] = [];
  const inner: Transport = {
    start: async () => undefined,
    send: () => new Promise((resolve) => unsent.push(resolve)),
    close: async () => void (closed += 1),
  };
  const transport = boundedTransport(inner, {
    countErrors,
    onExceeded: ({ message }) => void reasons.push(message),
    now: () => ms,
  });
  let errors = 0;
  /* oxlint-disable unicorn/prefer-add-event-listener -- transports are no event targets */
  transport.onmessage = (message) => void received.push(message);
  transport.onerror = () => void (errors += 1);
  /* oxlint-enable unicorn/prefer-add-event-listener */
  return {
    transport,
    received,
    reasons,
    get closed() {
      return closed;
    },
    get errors() {
      return errors;
    },
    pass: (more: number) => void (ms += more),
    receive: (message: JSONRPCMessage, times = 1) => {
      for (let n = 0; n < times; n++) inner.onmessage?.(message);
    },
    fail: (times: number) => {
      for (let n = 0; n < times; n++) inner.onerror?.(new Error('no message'));
    },
    /** Completes the oldest write of a response. */
    sent: async () => {
      unsent.shift()?.();
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

test(`${HANDLED} requests are handled, the others wait in order until a response was sent`, async () => {
  const it = setUp();
  for (let id = 0; id < 100; id++) it.receive(ping(id));
  expect(it.received).toHaveLength(HANDLED);
  void it.transport.send(answer(3));
  await Promise.resolve();
  expect(it.received).toHaveLength(HANDLED);
  await it.sent();
  expect(it.received.at(-1)).toEqual(ping(HANDLED));
  expect(it.received).toHaveLength(HANDLED + 1);
  for (let id = 4; id < 100; id++) {
    void it.transport.send(answer(id));
    await it.sent();
  }
  expect(it.received).toHaveLength(100);
  expect(it.reasons).toEqual([]);
});

test(`more than ${WAITING} waiting requests end the connection, and its messages are dropped`, async () => {
  const it = setUp();
  for (let id = 0; id < HANDLED + WAITING; id++) it.receive(ping(id));
  expect(it.reasons).toEqual([]);
  it.receive(ping(HANDLED + WAITING));
  expect(it.reasons).toEqual(['the server sends more requests than are answered']);
  it.receive(notification, 10);
  it.receive(ping(HANDLED + WAITING + 1));
  expect(it.received).toHaveLength(HANDLED);
  expect(it.reasons).toHaveLength(1);
  await until(() => it.closed === 1);
});

test('a request whose id is in progress waits until that one was answered; a number and a string are different ids', async () => {
  const it = setUp();
  it.receive(ping(1), 3);
  expect(it.received).toEqual([ping(1)]);
  it.receive(ping('1'));
  it.receive(ping(2));
  expect(it.received).toEqual([ping(1), ping('1'), ping(2)]);
  for (const answered of [2, 3]) {
    void it.transport.send(answer(1));
    await it.sent();
    expect(it.received.filter((message) => 'id' in message && message.id === 1)).toHaveLength(answered);
  }
  void it.transport.send(answer(1));
  await it.sent();
  it.receive(ping(1));
  expect(it.received).toHaveLength(6);
  expect(it.reasons).toEqual([]);
});

test('a request that waits for its id does not block others; the last one is cancelled; too many close the connection', async () => {
  const it = setUp();
  it.receive(ping(0), 2);
  it.receive({ jsonrpc: '2.0', id: 0, method: 'roots/list' });
  for (let id = 1; id < HANDLED; id++) it.receive(ping(id));
  it.receive(ping(99));
  it.receive(cancel(0));
  expect(it.received).toHaveLength(HANDLED);
  void it.transport.send(answer(5));
  await it.sent();
  expect(it.received.at(-1)).toEqual(ping(99));
  void it.transport.send(answer(0));
  await it.sent();
  void it.transport.send(answer(0));
  await it.sent();
  expect(it.received.filter((message) => 'id' in message && message.id === 0)).toEqual([ping(0), ping(0)]);
  it.receive(ping(1), WAITING);
  expect(it.reasons).toEqual([]);
  it.receive(ping(1));
  expect(it.reasons).toEqual(['the server sends more requests than are answered']);
});

test('a cancelled request frees its capacity, unless its response is being sent', async () => {
  const it = setUp();
  for (let id = 0; id < HANDLED + 2; id++) it.receive(ping(id));
  it.receive(cancel(HANDLED + 1));
  expect(it.received).toHaveLength(HANDLED);
  it.receive(cancel(0));
  expect(it.received.slice(HANDLED)).toEqual([cancel(0), ping(HANDLED)]);
  it.receive(ping(HANDLED + 2));
  void it.transport.send(answer(1));
  it.receive(cancel(1));
  expect(it.received).not.toContainEqual(ping(HANDLED + 2));
  await it.sent();
  expect(it.received.at(-1)).toEqual(ping(HANDLED + 2));
});

test('messages: 5,000 in a burst and 1,000 a second pass, more end the connection', () => {
  const it = setUp();
  it.receive(notification, 5000);
  for (let second = 0; second < 5; second++) {
    it.pass(1000);
    it.receive(notification, 1000);
  }
  expect(it.received).toHaveLength(10_000);
  expect(it.reasons).toEqual([]);
  it.receive(notification);
  expect(it.reasons).toEqual(['the server sent more than 1000 messages a second']);
  it.pass(60_000);
  it.receive(notification);
  expect(it.received).toHaveLength(10_000);
});

test('an idle connection collects no more than one burst', () => {
  const it = setUp();
  it.pass(3_600_000);
  it.receive(notification, 5001);
  expect(it.reasons).toHaveLength(1);
});

test('input that is not a message is charged to the budget of remote servers only', () => {
  const remote = setUp(true);
  remote.fail(5001);
  expect([remote.errors, remote.reasons.length]).toEqual([5000, 1]);
  const program = setUp(false);
  program.fail(5001);
  expect([program.errors, program.reasons.length]).toEqual([5001, 0]);
});
