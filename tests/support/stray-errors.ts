/** Throws uncaught errors; started by crash-guard.test.ts. Sends its log lines; answers any message with `alive`. */
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
