/** A process in which errors escape; started by crash-guard.test.ts, it tells its log lines and that it lives. */
import { guardAgainstCrashes } from '#server/cli/crash-guard.ts';
import { createLogger } from '#server/logging/log.ts';

guardAgainstCrashes(createLogger('info', (line) => process.send?.(line)));
const circular = new Error('thrown');
circular.cause = circular;
void Promise.reject(new Error('rejected'));
setTimeout(() => {
  throw circular;
}, 1);
process.on('message', () => process.send?.('alive'));
