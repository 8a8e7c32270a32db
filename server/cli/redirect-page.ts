/**
 * A page that redirects a browser to the access URL. Arguments of programs are visible to all users of the machine, so
 * the browser is started with the address of this file, which only its owner can read.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Clock } from '#server/clock.ts';

/** The name starts with that of the token file, so that the model's tools do not read its files. */
const FOLDER = 'server.token.pages';
const KEPT_MS = 60_000;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

function pageOf(url: string): string {
  const target = escaped(url);
  return [
    '<!doctype html><meta charset="utf-8"><title>Service Code</title>',
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="refresh" content="0; url=${target}">`,
    `<p><a href="${target}">Open Service Code</a></p>\n`,
  ].join('\n');
}

/** Removes pages that crashed servers have left. */
async function removeOld(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // Another server may remove its page at the same time.
    const written = await stat(path).catch(() => undefined);
    if (written && now - written.mtimeMs > KEPT_MS) await rm(path, { force: true });
  }
}

export interface RedirectPage {
  /** `file:` URL. */
  url: string;
  remove(): Promise<void>;
}

/** Writes the page below `home`; it is removed after a minute. Throws errors of the file system. */
export async function writeRedirectPage(home: string, url: string, clock: Clock): Promise<RedirectPage> {
  const folder = join(home, FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  await removeOld(folder, Date.now());
  const path = join(folder, `${randomBytes(16).toString('hex')}.html`);
  await writeFile(path, pageOf(url), { mode: 0o600, flag: 'wx' });
  const cancel = clock.setTimeout(() => void remove(), KEPT_MS);
  async function remove(): Promise<void> {
    cancel();
    await rm(path, { force: true }).catch(() => undefined);
  }
  return { url: pathToFileURL(path).href, remove };
}
