/** `#endpoints` for tests: the same files and routes that Nitro finds, found by Vite. All of them are endpoints. */
/// <reference types="vite/client" />
import type { EndpointEntry, PlainRoute } from '#utils/http/route-table.ts';
import { routeName } from '../../build/route-name.ts';
import type { Endpoint } from '#utils/endpoint-definition.ts';

const files = import.meta.glob<{ default: Endpoint }>('../../routes/**/*.ts');

const endpoints: EndpointEntry[] = Object.entries(files).map(([file, load]) => {
  const { route, method = '' } = routeName(file.replace('../../routes/', ''));
  return { route, method, load };
});

export const plainRoutes: PlainRoute[] = [];
export default endpoints;
