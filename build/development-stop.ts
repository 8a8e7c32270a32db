/** `nitro dev` exits at the first signal without closing the app, whose sessions would look crashed: this closes it. */
import type { Nitro, NitroModule } from 'nitropack/types';

const STOP_TIMEOUT_MS = 5000;

async function stop(nitro: Nitro): Promise<void> {
  setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
  await nitro.close();
  process.exit(0);
}

export const developmentStopModule: NitroModule = {
  name: 'development-stop',
  setup(nitro) {
    if (!nitro.options.dev) return;
    // By then the dev server has its listeners, and there is an app to close.
    nitro.hooks.hookOnce('dev:reload', () => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.removeAllListeners(signal);
        // A second signal ends the process, as it does by default.
        process.once(signal, () => void stop(nitro));
      }
    });
  },
};
