/**
 * Nitro's development server answers some requests itself, before the guard of the app: `/_vfs` shows generated sources,
 * also to other sites (DNS rebinding), and its error page shows paths and sources. Both are replaced. So is the reply of
 * its app to an error, which has the stack: it is that of the built server, and the terminal shows the error.
 */
import { defineEventHandler, setResponseStatus } from 'h3';
import type { NitroModule } from 'nitropack/types';

const TEXT = { 'content-type': 'text/plain; charset=utf-8' };
const UNAVAILABLE = 'The server is not available; its terminal shows why.\n';

/** Nitro's own handler of errors, which is the last one. */
const DEVELOPMENT_ERRORS = /(\binternal\/error\/)dev$/;

export const developmentGuardModule: NitroModule = {
  name: 'development-guard',
  setup({ options, logger }) {
    if (!options.dev) return;
    // Nitro runs these handlers before its own, and matches paths alike for both.
    options.devHandlers.unshift({
      route: '/_vfs',
      handler: defineEventHandler(() => new Response('Not found', { status: 404, headers: TEXT })),
    });
    options.errorHandler = [options.errorHandler].flat().map((path) => path.replace(DEVELOPMENT_ERRORS, '$1prod'));
    const logged = new WeakSet<object>();
    options.devErrorHandler = (error, event) => {
      const cause = error.cause instanceof Error ? error.cause : error;
      // The page asks again and again.
      if (!logged.has(cause)) logger.error(cause);
      logged.add(cause);
      const { res: response } = event.node;
      if (response.headersSent) return void response.destroy();
      setResponseStatus(event, 503);
      response.setHeader('content-type', TEXT['content-type']);
      response.end(UNAVAILABLE);
    };
  },
};
