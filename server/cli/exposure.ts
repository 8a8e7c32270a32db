/** Warnings of a server that other machines can reach. */
import type { App } from '#server/app/app.ts';
import { hasDebugger } from './debugger.ts';

/** Reports through `warn` what the bind of a server exposes; no call for a loopback bind. */
export function warnOfExposure({ options, bind }: App, warn: (message: string) => void): void {
  const { host, bypassAuth } = options;
  if (bind.loopback) return;
  warn(`Listening on ${host}: the connection is plain HTTP, anyone on the network can read it.`);
  if (hasDebugger(process.env, process.execArgv)) {
    warn('Node was started with --inspect: a client that reaches its debugger needs no token to run code as you.');
  }
  if (!bypassAuth) return;
  const rule = '!'.repeat(78);
  // Printed to standard error even with logs on, so that the user cannot overlook it.
  process.stderr.write(
    `${rule}\n!! AUTHENTICATION IS OFF (--dangerous-bypass-auth) on an address that others reach.\n` +
      `!! Everybody who can connect to this port can run commands as you.\n${rule}\n`,
  );
}
