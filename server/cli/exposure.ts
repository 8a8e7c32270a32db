/** Warnings of a server that other machines can reach, and of one that a proxy may make reachable. */
import type { App } from '#server/app/app.ts';
import { hasDebugger } from './debugger.ts';

/** Reports through `warn` what the bind or the proxy of a server exposes; no call if only this machine reaches it. */
export function warnOfExposure({ options, bind }: App, warn: (message: string) => void): void {
  const { host, bypassAuth, trustedProxies, certificate } = options;
  if (!bind.exposed) return;
  if (trustedProxies) {
    warn(`Listening on ${host}: others can reach this server through a proxy, which --trust-proxy names.`);
  } else if (certificate === undefined) {
    warn(`Listening on ${host}: the connection is plain HTTP, anyone on the network can read it.`);
  }
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

/** Reports once that requests come through a proxy which the rules of the server do not know. */
export function warnOfProxy({ access }: Pick<App, 'access'>, warn: (message: string) => void): void {
  access.onProxySeen(() =>
    warn(
      'A request with X-Forwarded-For has arrived: if a proxy makes this server reachable, name its address with --trust-proxy, or its clients are taken for programs of this machine.',
    ),
  );
}
