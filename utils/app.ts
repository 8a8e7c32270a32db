/** The one accessor through which route files reach the program. */
import type { App } from '#server/app.ts';

let current: () => App | undefined = () => undefined;

/** Names the source of `useApp`: the built server and development give their one app, tests one per server. */
export function provideApp(source: () => App | undefined): void {
  current = source;
}

/** The running app. Call it inside a handler; before the start it throws. */
export function useApp(): App {
  const app = current();
  if (!app) throw new Error('the app has not been started');
  return app;
}
