/** `nitro dev` would exit when a browser drops its WebSocket, as every reload does: those errors are swallowed. */
import type { NitroModule } from 'nitropack/types';

const DROPPED = new Set(['ECONNRESET', 'EPIPE']);

export const socketResetsModule: NitroModule = {
  name: 'socket-resets',
  setup(nitro) {
    if (!nitro.options.dev) return;
    process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
      if (!DROPPED.has(error.code ?? '')) throw error;
    });
  },
};
