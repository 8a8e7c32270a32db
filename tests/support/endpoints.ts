/** `#endpoints` for tests: the same files and routes that Nitro finds, found by Vite. */
/// <reference types="vite/client" />
import type { Endpoint } from '#utils/endpoint.ts';
import type { EndpointEntry } from '#utils/http/route-table.ts';

const files = import.meta.glob<{ default: Endpoint }>('../../routes/**/*.{get,post,put,patch,delete}.ts');

/** Route and method of a file below `routes/`: `api/v1/sessions/[session_id].get.ts`. Undefined for other files. */
export function endpointName(file: string): Pick<EndpointEntry, 'route' | 'method'> | undefined {
  const [, path, method] = /^(.*)\.(get|post|put|patch|delete)\.ts$/.exec(file) ?? [];
  if (path === undefined || method === undefined) return undefined;
  const route = `/${path}`
    .replace(/\/index$/, '')
    .replaceAll(/\[\.{3}([^\]]+)\]/g, '**:$1')
    .replaceAll(/\[([^\]]+)\]/g, ':$1');
  return { route, method };
}

const endpoints: EndpointEntry[] = Object.entries(files).flatMap(([file, load]) => {
  const name = endpointName(file.replace('../../routes/', ''));
  return name ? [{ ...name, load }] : [];
});

export default endpoints;
