import type { ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { withHiddenClosed } from '#server/processes/hidden-descriptors.ts';

/** Opens the URL in the user's browser, which inherits no hidden descriptor. Rejects if none can be started. */
export async function openInBrowser(url: string): Promise<ChildProcess> {
  const { default: open } = await import('open');
  // The script that the library also uses if no app is passed.
  const script = join(dirname(createRequire(import.meta.url).resolve('open')), 'xdg-open');
  const { file: name, args } = withHiddenClosed({ file: script, args: [] });
  // In WSL the browser is a Windows program, which inherits no descriptor.
  if (name === script || process.env.WSL_DISTRO_NAME !== undefined) return open(url);
  return open(url, { app: { name, arguments: args } });
}
