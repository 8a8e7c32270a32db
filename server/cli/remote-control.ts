/** `--remote-control`: makes the server reachable through a relay once it listens. */
import type { App } from '#server/app/app.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { createLogger } from '#server/logging/log.ts';
import { qrCode } from './qr-code.ts';

/**
 * Starts remote control and prints the address with the token, and its QR code where the banner is printed. A failure is
 * one line on standard error. Never rejects.
 */
export async function startRemoteControl(app: App, { hasBanner }: { hasBanner: boolean }): Promise<void> {
  // The reason may be the relay's text, whose control characters must not reach the terminal.
  const fail = (reason: string) =>
    void process.stderr.write(`Remote control: ${reason.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')}\n`);
  try {
    const { url, state, error } = await (await app.remote()).start();
    // The server is stopping.
    if (state === 'off' || state === 'stopping') return;
    if (state !== 'on' || url === undefined) return fail(`not connected yet: ${error ?? 'the relay does not answer'}`);
    const address = `${url}#token=${(await app.token()) ?? ''}`;
    if (!hasBanner) return createLogger('info').info(`Remote control: ${address}`);
    process.stdout.write(`  Remote control: ${address}\n\n${await qrCode(address)}\n\n`);
  } catch (error) {
    fail(errorMessage(error));
  }
}
