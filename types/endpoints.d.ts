/** Made by `build/endpoints.ts` from the route files and the handlers of the configuration; in tests by `tests/support/endpoints.ts`. */
declare module '#endpoints' {
  import type { EndpointEntry, PlainRoute } from '#utils/http/route-table.ts';
  const endpoints: EndpointEntry[];
  export const plainRoutes: PlainRoute[];
  export default endpoints;
}
