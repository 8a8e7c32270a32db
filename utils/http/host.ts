/**
 * The host that `entry.ts` has built, for the plugin: Nitro calls plugins without arguments while its runtime is being
 * imported. A process has one.
 */
import type { Host } from './request-handler.ts';

let provided: Host | undefined;

/** Provides the host before Nitro's runtime is imported. */
export function provideHost(host: Host): void {
  provided = host;
}

/** The host of this process. Throws if there is none yet. */
export function providedHost(): Host {
  if (!provided) throw new Error('Nitro was started before the server');
  return provided;
}
