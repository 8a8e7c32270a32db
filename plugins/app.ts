/**
 * Puts the guard, the access log and the page around Nitro's app, in development and in the built server. The build makes
 * it the last plugin, so that nothing is outside the guard.
 */
import { defineNitroPlugin } from 'nitropack/runtime';
import { getRouteRulesForPath } from 'nitropack/runtime/internal/index';
import { providedHost } from '#utils/http/host.ts';
import { createRequestHandler } from '#utils/http/request-handler.ts';

function hasRule(path: string): boolean {
  const { redirect, proxy } = getRouteRulesForPath(path);
  return Boolean(redirect) || Boolean(proxy);
}

export default defineNitroPlugin(({ h3App }) => {
  const handle = h3App.handler;
  h3App.handler = createRequestHandler(providedHost(), { handle, hasRule });
});
