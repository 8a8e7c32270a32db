/** Made by `build/endpoints.ts` from the files under `routes/`; in tests by `tests/support/endpoints.ts`. */
declare module '#endpoints' {
  import type { EndpointEntry } from '#utils/http/route-table.ts';
  const endpoints: EndpointEntry[];
  export default endpoints;
}
