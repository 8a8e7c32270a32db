/** A process that obtains the access token of a slot when its parent sends a message; started by tokens.test.ts. */
import { systemClock } from '#server/clock.ts';
import { openTokens } from './cloud/login.ts';
import { leaseHolder } from './lease-holder.ts';

const [home = '', name = '', oauthHost = ''] = process.argv.slice(2);
const { tokens, lines } = openTokens(home, { holder: leaseHolder(name), clock: systemClock });

process.on('message', (force: boolean) => {
  tokens.get({ key: 'oauth/k', oauthHost }, { force }).then(
    (token) => process.send?.(token),
    (error: unknown) => process.send?.(`failed: ${String(error)} ${lines.join('')}`),
  );
});
process.send?.('ready');
