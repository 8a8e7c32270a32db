/** A process that keeps a session in mid-turn until it is killed; started by session-log.test.ts. */
import { systemClock } from '#server/clock.ts';
import { event } from '#server/journal/records.ts';
import { openSessionLog } from '#server/journal/session-log.ts';
import { leaseHolder } from './lease-holder.ts';

const [dir = ''] = process.argv.slice(2);
const log = await openSessionLog({
  dir,
  sessionId: 'session_S1',
  version: '1.0.0',
  holder: leaseHolder(),
  clock: systemClock,
  sink: { publish: () => undefined },
  log: { warn: () => undefined, error: () => undefined },
  onFailure: (error) => process.send?.(`failed: ${error.message}`),
});
await log.claim();
const submitted = {
  promptId: 'msg_1',
  userMessageId: 'msg_1',
  status: 'running' as const,
  content: [],
  createdAt: '2026-01-02T03:04:05.678Z',
};
log.append([
  event('main', 'prompt.submitted', submitted),
  event('main', 'turn.started', { turnId: 0, promptId: 'msg_1', origin: { kind: 'user' } }),
]);
process.send?.('holding');
setInterval(() => undefined, 1_000);
