/** Pings of a connection without traffic, on a socket that the test controls. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createSocket, type Socket, type SocketLike } from '@service-code/client';

type Listener = Parameters<SocketLike['addEventListener']>[1];

let sent: string[];
let opened: { emit(type: 'message' | 'close', data?: object): void }[];
let socket: Socket | undefined;

class TestSocket implements SocketLike {
  readonly #listeners = new Map<string, Listener>();
  constructor() {
    opened.push({
      emit: (type, data) => this.#listeners.get(type)?.({ type, ...(data && { data: JSON.stringify(data) }) }),
    });
  }
  send(text: string) {
    sent.push(text);
  }
  close() {}
  addEventListener(type: string, listener: Listener) {
    this.#listeners.set(type, listener);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  opened = [];
});
afterEach(() => {
  socket?.close();
  vi.useRealTimers();
});

const HELLO = { type: 'server_hello', timestamp: '', payload: {} };
const PONG = { type: 'pong', timestamp: '', payload: { nonce: '' } };
const pings = () => sent.filter((text) => text.includes('"ping"')).length;
const open = (idlePingMs?: number) => {
  socket = createSocket({
    url: 'ws://h/',
    token: () => undefined,
    WebSocket: TestSocket,
    ...(idlePingMs !== undefined && { idlePingMs }),
  });
  opened.at(-1)?.emit('message', HELLO);
};

it('are sent after the time without a frame in either direction, and again', () => {
  open(30_000);
  vi.advanceTimersByTime(29_999);
  expect(pings()).toBe(0);
  vi.advanceTimersByTime(1);
  expect(pings()).toBe(1);
  opened[0]?.emit('message', PONG);
  vi.advanceTimersByTime(20_000);
  opened[0]?.emit('message', { type: 'event.x', session_id: 's', seq: 1, payload: {} });
  vi.advanceTimersByTime(20_000);
  void socket?.request('unsubscribe', { session_ids: [] }).catch(() => undefined);
  vi.advanceTimersByTime(29_999);
  expect(pings()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(pings()).toBe(2);
});

it('reconnect when no frame answers, and continue on the new connection', () => {
  open(30_000);
  vi.advanceTimersByTime(40_000);
  expect(socket?.connection.kind).toBe('waiting');
  vi.advanceTimersByTime(100_000);
  expect(pings()).toBe(1);
  opened.at(-1)?.emit('message', HELLO);
  vi.advanceTimersByTime(30_000);
  expect(pings()).toBe(2);
});

it('are not sent without the option', () => {
  open();
  vi.advanceTimersByTime(1_000_000);
  expect(sent).toEqual([]);
});
