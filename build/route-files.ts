/** The handlers that `#endpoints` lists, and which of them are endpoints. Refuses files that would not be served as they are written. */
import { readFile, readdir } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { Nitro, NitroEventHandler } from 'nitropack/types';
import { routeName, type RouteName } from './route-name.ts';

export interface RouteFile {
  /** Path of the file, or the id of a virtual module. */
  handler: string;
  route: string;
  /** Lower case; absent: any method. */
  method?: string;
  isEndpoint: boolean;
}

const COMMENTS = /\/\*[^]*?\*\/|^\s*\/\/.*$/gm;
const ENDPOINT = /^export default define\w*Endpoint\s*[(<]/m;
const DEFINES_ENDPOINT = /\bdefine\w*Endpoint\s*[(<]/;

/** Path of a handler as messages show it. */
const shown = ({ options }: Nitro, handler: string) =>
  isAbsolute(handler) ? relative(options.rootDir, handler) : handler;

interface Source {
  path: string;
  /** Without comments. */
  text: string;
}

/** The file of a handler; undefined for virtual modules and packages. */
async function sourceOf({ options }: Nitro, handler: string): Promise<Source | undefined> {
  const [alias] = Object.keys(options.alias).filter((prefix) => handler.startsWith(prefix));
  const named = alias === undefined ? handler : (options.alias[alias] ?? '') + handler.slice(alias.length);
  const base = resolve(options.srcDir, named);
  for (const path of ['', '.ts', '.mjs', '.js'].map((extension) => base + extension)) {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text !== undefined) return { path, text: text.replaceAll(COMMENTS, '') };
  }
  return undefined;
}

/** Whether the environment of this build has the handler (`.dev`, `.prod` in its name). */
function counts({ options }: Nitro, { env }: { env?: string | string[] }): boolean {
  const wanted = [env ?? []].flat();
  return wanted.length === 0 || wanted.includes(options.dev ? 'dev' : 'prod') || wanted.includes(options.preset);
}

async function routeFile(nitro: Nitro, { handler, route = '/', method }: NitroEventHandler): Promise<RouteFile> {
  const { path = handler, text = '' } = (await sourceOf(nitro, handler)) ?? {};
  const isEndpoint = ENDPOINT.test(text);
  const file = shown(nitro, path);
  if (isEndpoint && method === undefined) {
    throw new Error(`${file} is an endpoint and needs a method in its name, such as .get.ts.`);
  }
  if (!isEndpoint && DEFINES_ENDPOINT.test(text)) {
    throw new Error(`${file} defines an endpoint, which must be its default export: export default defineEndpoint(…).`);
  }
  return { handler: path, route, method: method?.toLowerCase(), isEndpoint };
}

/** One text for all spellings of a route: siblings may name a parameter differently. */
const sameRoute = ({ route, method = '' }: Pick<RouteFile, 'route' | 'method'>) =>
  `${method} ${route.replaceAll(/\*\*(:\w+)?/g, '**').replaceAll(/:\w+/g, ':')}`;

function refuseTwins(nitro: Nitro, files: readonly Omit<RouteFile, 'isEndpoint'>[]): void {
  const seen = new Map<string, string>();
  for (const file of files) {
    const first = seen.get(sameRoute(file));
    if (first !== undefined && first !== file.handler) {
      throw new Error(`${shown(nitro, first)} and ${shown(nitro, file.handler)} are for the same path and method.`);
    }
    seen.set(sameRoute(file), file.handler);
  }
}

interface NamedFile extends RouteName {
  handler: string;
}

/** The files below a folder of routes. Nitro's own list lacks the second file of a path and method. */
async function filesBelow(nitro: Nitro, folder: string, base: string): Promise<NamedFile[]> {
  const found = await Promise.all(
    nitro.options.scanDirs.map(async (directory) => {
      const root = join(directory, folder);
      const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
      return entries
        .filter((entry) => entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name))
        .map(({ parentPath, name }) => join(parentPath, name))
        .map((handler) => ({ handler, ...routeName(relative(root, handler).replaceAll('\\', '/'), base) }));
    }),
  );
  return found.flat();
}

/**
 * All route files and handlers of the configuration that count in this environment. Throws an `Error` of one sentence for
 * an endpoint without a method, one that is no default export, and two files for one path and method.
 */
export async function routeFiles(nitro: Nitro): Promise<RouteFile[]> {
  const { scannedHandlers, options } = nitro;
  const handlers = [...scannedHandlers, ...options.handlers].filter(
    (handler) => !handler.middleware && handler.route && counts(nitro, handler),
  );
  const files = await Promise.all(handlers.map((handler) => routeFile(nitro, handler)));
  const { apiDir = 'api', apiBaseURL = '/api', routesDir = 'routes' } = options;
  const named = [...(await filesBelow(nitro, apiDir, apiBaseURL)), ...(await filesBelow(nitro, routesDir, ''))];
  refuseTwins(nitro, [...files, ...named.filter((file) => counts(nitro, file))]);
  return files;
}
