/**
 * Makes `#endpoints`: the table of all endpoint files under `routes/`, each loaded at its first request. A file without
 * a method in its name (the WebSocket of development) is no endpoint.
 */
import type { NitroModule } from 'nitropack/types';

export const endpointsModule: NitroModule = {
  name: 'endpoints',
  setup(nitro) {
    nitro.options.virtual['#endpoints'] = () => {
      const rows = nitro.scannedHandlers
        .filter(({ route, method, middleware }) => route && method && !middleware)
        .map(({ route, method, handler }) => {
          const text = JSON.stringify;
          return `{ route: ${text(route)}, method: ${text(method)}, load: () => import(${text(handler)}) }`;
        });
      return `export default [\n${rows.join(',\n')}\n];\n`;
    };
  },
};
