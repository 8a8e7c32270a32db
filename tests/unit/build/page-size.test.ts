/** The limits of the page's size: a build that exceeds one fails. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import { expect, it } from 'vitest';
import { limitedSize } from '../../../build/page-size.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

/** Builds a page whose first view has a module of 5,000 bytes, and a session one of 3,000 bytes more. */
async function buildPage(firstView: number, session: number): Promise<unknown> {
  const root = await temporaryDirectory();
  const text = (length: number) => `globalThis.text = ${JSON.stringify('x'.repeat(length))};\n`;
  await mkdir(join(root, 'src'));
  await writeFile(join(root, 'index.html'), '<script type="module" src="/src/start.js"></script>');
  await writeFile(join(root, 'src/start.js'), `${text(5000)}void import('./session.js');`);
  await writeFile(join(root, 'src/session.js'), text(3000));
  const limits = {
    firstView: { chunks: ['index'], bytes: firstView },
    session: { chunks: ['session'], bytes: session },
  };
  return build({ root, configFile: false, logLevel: 'silent', plugins: [limitedSize(limits)] });
}

it.each([
  [8000, 4000, undefined],
  [5000, 4000, /first view \d kB \(limit 5 kB\)/],
  [8000, 2900, /a session \d kB more \(limit 3 kB\)/],
])('of %i and %i bytes', async (firstView, session, failure) => {
  const error = await buildPage(firstView, session).then(
    () => undefined,
    (reason: unknown) => String(reason),
  );
  if (failure === undefined) expect(error).toBeUndefined();
  else expect(error).toMatch(failure);
});
