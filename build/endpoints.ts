/**
 * Generates `#endpoints`: the endpoints, each imported at its first request, and the plain files, which Nitro's router
 * imports. Adds the endpoint table to Nitro's middleware, and makes our plugins the last ones.
 */
import { resolve } from 'node:path';
import type { Nitro, NitroModule } from 'nitropack/types';
import { routeFiles, type RouteFile } from './route-files.ts';
import { refuseCachedEndpoints } from './refused-options.ts';

const text = JSON.stringify;

/** Handlers of Nitro's dev server for its tasks, which are not in a list. */
const TASK_ROUTES = ['/_nitro/tasks', '/_nitro/tasks/:name'].map((route) => ({ route }));

function endpointsModuleText(nitro: Nitro, files: readonly RouteFile[]): string {
  const endpoints = files.filter(({ isEndpoint }) => isEndpoint);
  refuseCachedEndpoints(nitro, endpoints);
  const rows = endpoints.map(
    ({ route, method, handler }) =>
      `{ route: ${text(route)}, method: ${text(method)}, load: () => import(${text(handler)}) }`,
  );
  const plain = files.filter(({ isEndpoint }) => !isEndpoint).map(({ route, method }) => ({ route, method }));
  const { dev, experimental } = nitro.options;
  const plainRoutes = dev && experimental.tasks ? [...plain, ...TASK_ROUTES] : plain;
  return `export const plainRoutes = ${text(plainRoutes)};\nexport default [\n${rows.join(',\n')}\n];\n`;
}

export const endpointsModule: NitroModule = {
  name: 'endpoints',
  setup(nitro) {
    const { options, hooks } = nitro;
    const at = (path: string) => resolve(options.rootDir, path);
    // Called at each build of the dev server: a file that is added empty becomes an endpoint when it is saved.
    options.virtual['#endpoints'] = async () => endpointsModuleText(nitro, await routeFiles(nitro));
    // When other modules have added theirs.
    hooks.hook('build:before', () => {
      options.handlers.push({ middleware: true, handler: at('utils/http/endpoint-table.ts') });
      const last = ['plugins/development.ts', 'plugins/app.ts'].map(at);
      options.plugins = [...options.plugins.filter((plugin) => !last.includes(plugin)), ...last];
    });
  },
};
