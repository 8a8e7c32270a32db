/**
 * Puts the guard, the access log and the page around Nitro's app, in development and in the built server. The build makes
 * it the last plugin, so that nothing is outside the guard.
 */
import { defineNitroPlugin, useRuntimeConfig } from 'nitropack/runtime';
import { getRouteRulesForPath } from 'nitropack/runtime/internal/index';
import { StartError } from '#server/errors/start-error.ts';
import { providedHost } from '#utils/http/host.ts';
import { createRequestHandler } from '#utils/http/request-handler.ts';

function hasRule(path: string): boolean {
  const { redirect, proxy } = getRouteRulesForPath(path);
  return Boolean(redirect) || Boolean(proxy);
}

/**
 * The build refuses the option, but Nitro reads it from the environment again at the start; with it, its router would
 * decide on other paths than the guard.
 */
function refuseBaseUrl(): void {
  const { baseURL } = useRuntimeConfig().app;
  if (baseURL === '/') return;
  throw new StartError(`NITRO_APP_BASE_URL is not supported (${baseURL}): use the option --base-path.`);
}

export default defineNitroPlugin(({ h3App }) => {
  refuseBaseUrl();
  const handle = h3App.handler;
  h3App.handler = createRequestHandler(providedHost(), { handle, hasRule });
});
