/** Options of Nitro that this server cannot follow: the build refuses them, where ignoring them would be a surprise. */
import type { Nitro, NitroModule } from 'nitropack/types';
import type { RouteFile } from './route-files.ts';

/** Nitro's names of `node`, `node-server`, and of `nitro dev`. */
const PRESETS = new Set(['node-listener', 'node-server', 'nitro-dev']);

/** Why an option cannot be used; undefined if all can. */
function refusal({ options }: Nitro): string | undefined {
  const { preset, prerender, routeRules, serveStatic, baseURL, renderer } = options;
  const prerendered = Object.entries(routeRules).find(([, rule]) => rule.prerender)?.[0];
  if (!PRESETS.has(preset)) return `The preset ${preset} is not supported: use node, node-listener or node-server.`;
  if (prerender.routes.length > 0 || prerender.crawlLinks)
    return 'The option prerender is not supported: every request passes the guard.';
  if (prerendered !== undefined)
    return `The route rule prerender of ${prerendered} is not supported: every request passes the guard.`;
  if (serveStatic) return 'The option serveStatic is not supported: public files are served behind the guard.';
  if (baseURL !== '/') return `The option baseURL is not supported (${baseURL}): start the server with --base-path.`;
  if (renderer) return `The option renderer is not supported (${renderer}): paths without a handler show the page.`;
  return undefined;
}

const isWildcard = (segment: string | undefined) =>
  segment !== undefined && (segment.startsWith(':') || segment === '*');

/** Whether a rule's pattern and a route have a path in common. */
function overlaps(pattern: string[], route: string[]): boolean {
  const [first, ...patternRest] = pattern;
  const [second, ...routeRest] = route;
  if (first?.startsWith('**') || second?.startsWith('**')) return true;
  if (first === undefined || second === undefined) return first === second;
  const matches = first === second || isWildcard(first) || isWildcard(second);
  return matches && overlaps(patternRest, routeRest);
}

const segmentsOf = (path: string) => path.split('/').filter((segment) => segment !== '');

/** Throws an `Error` if a route rule caches an endpoint, which would answer without it. */
export function refuseCachedEndpoints({ options }: Nitro, endpoints: readonly RouteFile[]): void {
  for (const [pattern, rule] of Object.entries(options.routeRules)) {
    if (!rule.cache && !rule.isr) continue;
    const cached = endpoints.find(({ route }) => overlaps(segmentsOf(pattern), segmentsOf(route)));
    if (cached) {
      throw new Error(`The route rule ${pattern} caches the endpoint ${cached.route}, and endpoints are not cached.`);
    }
  }
}

export const refusedOptionsModule: NitroModule = {
  name: 'refused-options',
  setup(nitro) {
    const message = refusal(nitro);
    if (message !== undefined) throw new Error(message);
  },
};
