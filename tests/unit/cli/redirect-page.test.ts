/** The page that a browser is started with, instead of the address with the token. */
import { chmod, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { writeRedirectPage } from '#server/cli/redirect-page.ts';
import { findServerFiles } from '#server/permissions/server-files.ts';
import { createServerHome } from '#server/home/server-home.ts';
import { manualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const URL_WITH_TOKEN = 'http://127.0.0.1:1/#token=some-token';

it('is readable for its owner only, and is removed after a minute', async () => {
  const home = await temporaryHome();
  const clock = manualClock();
  const { url } = await writeRedirectPage(home, URL_WITH_TOKEN, clock);
  const path = fileURLToPath(url);
  expect(url).not.toContain('some-token');
  expect([(await stat(path)).mode & 0o777, (await stat(dirname(path))).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(await readFile(path, 'utf8')).toContain(`content="0; url=${URL_WITH_TOKEN}"`);
  clock.advance(59_999);
  expect(await readdir(dirname(path))).toEqual([basename(path)]);
  clock.advance(1);
  await eventually(async () => expect(await readdir(dirname(path))).toEqual([]));
});

it('each server has a separate page; stale ones of earlier servers are removed', async () => {
  const home = await temporaryHome();
  const clock = manualClock();
  const first = await writeRedirectPage(home, URL_WITH_TOKEN, clock);
  const folder = dirname(fileURLToPath(first.url));
  const left = join(folder, 'left.html');
  await writeFile(left, 'left');
  await utimes(left, 0, 0);
  const second = await writeRedirectPage(home, URL_WITH_TOKEN, clock);
  expect((await readdir(folder)).toSorted()).toEqual(
    [first, second].map(({ url }) => basename(fileURLToPath(url))).toSorted(),
  );
  await first.remove();
  await second.remove();
  expect(await readdir(folder)).toEqual([]);
});

it('a folder that others could read is closed first', async () => {
  const home = await temporaryHome();
  const { url, remove } = await writeRedirectPage(home, URL_WITH_TOKEN, manualClock());
  await remove();
  const folder = dirname(fileURLToPath(url));
  await chmod(folder, 0o755);
  await writeRedirectPage(home, URL_WITH_TOKEN, manualClock());
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

it('is a secret for tools', async () => {
  const home = await temporaryHome();
  const { url } = await writeRedirectPage(home, URL_WITH_TOKEN, manualClock());
  const { isSecret } = await findServerFiles({ home: createServerHome(home), sessionDir: join(home, 'sessions/w/s') });
  expect(isSecret(fileURLToPath(url))).toBe(true);
});

it('an address cannot leave its attribute', async () => {
  const home = await temporaryHome();
  const { url } = await writeRedirectPage(home, 'http://h/"><script>1</script>&x', manualClock());
  expect(await readFile(fileURLToPath(url), 'utf8')).not.toContain('<script>');
});
