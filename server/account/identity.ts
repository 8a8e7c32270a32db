/** Identity of this client toward providers: the device id and the identity headers. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { arch, hostname, release, type as kernel } from 'node:os';
import { promisify } from 'node:util';
import type { EffectiveConfig } from '#server/config/effective.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Documents } from '#server/storage/documents.ts';
import { SERVER_VERSION } from '#server/version.ts';

const PRODUCT = 'service-code-cli';
const PLATFORM = 'service_code_cli';
const SUFFIX = 'web';
const DEFAULT_NAME = 'service-code';
/** One line with a UUID. */
const DEVICE_ID = 'device_id';

export interface Identity {
  deviceId: string;
  /** The complete set; sent only to the service's own hosts. */
  headers(): Record<string, string>;
  /** The client's name as one lower-case word. */
  slug(identity: EffectiveConfig['identity']): string;
  /** The only identity header for third parties. */
  userAgent(identity: EffectiveConfig['identity']): string;
}

export interface IdentityDeps {
  documents: Documents;
  log: Logger;
}

/** Reads the home's device id, or creates one; if it cannot be written it applies to this process only. */
export async function createIdentity({ documents, log }: IdentityDeps): Promise<Identity> {
  const deviceId = await readDeviceId(documents, log);
  const model = await deviceModel();
  return {
    deviceId,
    headers: () => ({
      'User-Agent': `${PRODUCT}/${headerText(SERVER_VERSION)} (${SUFFIX})`,
      'X-Service-Platform': PLATFORM,
      'X-Service-Version': headerText(SERVER_VERSION),
      'X-Service-Device-Name': headerText(hostname()),
      'X-Service-Device-Model': headerText(model),
      'X-Service-Os-Version': headerText(release()),
      'X-Service-Device-Id': headerText(deviceId),
    }),
    slug: slugOfIdentity,
    userAgent: (identity) => `${slugOfIdentity(identity)}/${headerText(SERVER_VERSION)}`,
  };
}

async function readDeviceId(documents: Documents, log: Logger): Promise<string> {
  // An unreadable id is treated as missing.
  const stored = (await documents.getText(DEVICE_ID).catch(() => undefined))?.trim();
  if (stored) return stored;
  const made = randomUUID();
  await documents.setText(DEVICE_ID, `${made}\n`).catch((error: unknown) => {
    log.warn('the device id could not be written', { err: error });
  });
  return made;
}

async function deviceModel(): Promise<string> {
  if (process.platform === 'darwin') return `macOS ${await macVersion()} ${arch()}`;
  if (process.platform === 'win32') return `Windows ${release()} ${arch()}`;
  return `${kernel()} ${release()} ${arch()}`;
}

async function macVersion(): Promise<string> {
  const output = await promisify(execFile)('sw_vers', ['-productVersion'], { timeout: 1000 }).catch(() => undefined);
  return output?.stdout.trim() || release();
}

/** Reduces the value to trimmed printable ASCII; `unknown` if that is empty. */
export function headerText(value: string): string {
  return value.replace(/[^\u0020-\u007e]/g, '').trim() || 'unknown';
}

/** Lower-cases the name and replaces runs of other characters by a hyphen. */
function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

const slugOfIdentity = ({ name, slug }: EffectiveConfig['identity']) =>
  slugOf(slug ?? '') || slugOf(name ?? '') || DEFAULT_NAME;

/** Parses `Name: value` lines of a variable; lines without a colon or name are skipped. */
export function headerLines(text: string | undefined): Record<string, string> {
  return Object.fromEntries(
    (text ?? '').split(/\r?\n/).flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(colon, 0)).trim();
      return name === '' ? [] : [[name, line.slice(colon + 1).trim()]];
    }),
  );
}

/** Merges headers; later sets override earlier ones, ignoring the case of names. */
export function mergeHeaders(...sets: (Record<string, string> | undefined)[]): Record<string, string> {
  const merged = new Map<string, [string, string]>();
  for (const set of sets) for (const entry of Object.entries(set ?? {})) merged.set(entry[0].toLowerCase(), entry);
  return Object.fromEntries(merged.values());
}
