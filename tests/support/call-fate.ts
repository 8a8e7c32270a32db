/** Whether a tool call needs an approval. */
import { callThenText, type Talk, type Turn } from './talk.ts';
import type { ReceivedFrame } from './ws-client.ts';

/** Resolves to the request for an approval, or to undefined if the turn completes without one. */
export function approvalBefore(
  turn: Promise<Turn>,
  request: Promise<ReceivedFrame>,
): Promise<ReceivedFrame | undefined> {
  // Rejects when the world closes before a request arrives.
  request.catch(() => undefined);
  return Promise.race([turn.then(() => undefined), request]);
}

/** Runs a call in manual mode. Returns `asked` if it needs an approval, which is rejected; otherwise its output. */
export async function callFate(talk: Talk, tool: string, args: unknown): Promise<string> {
  const before = talk.all('event.approval.requested').length;
  const turn = talk.turn('go', callThenText(tool, args), { permission_mode: 'manual' });
  const request = await approvalBefore(turn, talk.nth('event.approval.requested', before + 1));
  if (request) await talk.answer(String(request.payload.approval_id), { decision: 'rejected' });
  const { results } = await turn;
  return request ? 'asked' : (results[0]?.output ?? '');
}
