/**
 * Gives the token of an open tab to a new one, over a channel that only pages of this origin receive. A tab answers while
 * its connection is open: its server is then the one that serves the new tab, and no other program that has taken the port.
 */

/** The subset of a BroadcastChannel that is used. */
export interface TokenChannel {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  removeEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
}

/** A tab that works answers in a few milliseconds. A tab without a token displays its question after this time. */
const ANSWER_MS = 300;

const REQUEST = 'token-request';
const ANSWER = 'token-answer';

function isMessage(data: unknown, type: string): data is { type: string; token?: unknown } {
  return typeof data === 'object' && data !== null && 'type' in data && data.type === type;
}

/** The token of another tab; undefined if no tab answers, or if the server needs none. */
export function requestToken(channel: TokenChannel, patienceMs = ANSWER_MS): Promise<string | undefined> {
  return new Promise((resolve) => {
    const finish = (token?: string) => {
      clearTimeout(timer);
      channel.removeEventListener('message', receive);
      resolve(token);
    };
    const receive = ({ data }: { data: unknown }) => {
      if (isMessage(data, ANSWER)) finish(typeof data.token === 'string' ? data.token : undefined);
    };
    const timer = setTimeout(finish, patienceMs);
    channel.addEventListener('message', receive);
    channel.postMessage({ type: REQUEST });
  });
}

/** `current` returns undefined while the tab must not answer. */
export function answerTokenRequests(
  channel: TokenChannel,
  current: () => { token: string | undefined } | undefined,
): void {
  channel.addEventListener('message', ({ data }) => {
    const answer = isMessage(data, REQUEST) ? current() : undefined;
    if (answer) channel.postMessage({ type: ANSWER, token: answer.token });
  });
}
