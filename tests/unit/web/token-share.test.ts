/** The token of an open tab for a new one. */
import { expect, it } from 'vitest';
import { answerTokenRequests, requestToken, type TokenChannel } from '../../../web/stores/token-share.ts';

type Listener = Parameters<TokenChannel['addEventListener']>[1];

/** Tabs of one origin: a message reaches all but its sender, later. */
function channels(count: number): TokenChannel[] {
  const listeners = Array.from({ length: count }, () => new Set<Listener>());
  return listeners.map((own) => ({
    postMessage(data) {
      for (const others of listeners) {
        if (others !== own) for (const listener of others) queueMicrotask(() => listener({ data }));
      }
    },
    addEventListener: (_type, listener) => void own.add(listener),
    removeEventListener: (_type, listener) => void own.delete(listener),
  }));
}

const answers = (channel: TokenChannel | undefined, token: string | undefined, isOpen = true) =>
  channel && answerTokenRequests(channel, () => (isOpen ? { token } : undefined));
const request = (channel: TokenChannel | undefined, patienceMs?: number) =>
  channel && requestToken(channel, patienceMs);

it('is that of a tab whose connection is open', async () => {
  const [closed, open, fresh] = channels(3);
  answers(closed, 'of a server that is away', false);
  answers(open, 'right');
  expect(await request(fresh)).toBe('right');
});

it('is not sent while the connection is closed', async () => {
  const [closed, fresh] = channels(2);
  const sent: unknown[] = [];
  fresh?.addEventListener('message', ({ data }: { data: unknown }) => sent.push(data));
  answers(closed, 'secret', false);
  expect(await request(fresh, 50)).toBeUndefined();
  expect(sent).toEqual([]);
});

it('is undefined if the server needs none, without waiting', async () => {
  const [open, fresh] = channels(2);
  answers(open, undefined);
  expect(await request(fresh, 60_000)).toBeUndefined();
});

it('is undefined if no tab answers, or another message arrives', async () => {
  const [other, fresh] = channels(2);
  const requested = request(fresh, 50);
  for (const message of [null, 'token', { type: 'token' }]) other?.postMessage(message);
  expect(await requested).toBeUndefined();
});
