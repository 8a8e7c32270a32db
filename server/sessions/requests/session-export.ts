/** Exports a session as a zip archive: a manifest, all files of its folder, and the logs. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';
import { listFiles } from '#server/files/list-files.ts';
import { iso } from '#schema/scalars.ts';
import type { LiveSessions } from '../live/live-sessions.ts';
import type { SessionHeader } from '../index/session-header.ts';
import type { SessionIndex } from '../index/session-index.ts';

const WIRE_PROTOCOL_VERSION = '1.5';

/** Names of the files that the export adds; files of the session's folder with these names are skipped. */
const ADDED = {
  manifest: 'manifest.json',
  web: 'logs/service-web.jsonl',
  global: 'logs/global/service-code.log',
  desktop: 'logs/service-desktop.log',
} as const;
const SESSION_LOG = 'logs/service-code.log';

export interface ExportRequest {
  web_log?: string | undefined;
  desktop?: boolean | undefined;
}

export interface SessionExportDeps {
  home: string;
  version: string;
  live: Pick<LiveSessions, 'get' | 'directory' | 'flush'>;
  index: Pick<SessionIndex, 'ready' | 'get'>;
  clock: Clock;
}

/** An archive in an unlinked file, which the system removes when the file is closed. */
export interface SessionArchive {
  file: FileHandle;
  size: number;
}

export type ExportSession = (id: string, request: ExportRequest, signal: AbortSignal) => Promise<SessionArchive>;

interface Entry {
  name: string;
  from: string | Buffer;
}

/**
 * Creates the export function. A loaded session is flushed first; a cold one is not loaded. Throws `session.not_found`.
 */
export function createSessionExport({ home, version, live, index, clock }: SessionExportDeps): ExportSession {
  async function entriesOf(row: SessionHeader, { web_log, desktop }: ExportRequest): Promise<Entry[]> {
    const folder = live.directory(row);
    const reserved: ReadonlySet<string> = new Set(Object.values(ADDED));
    const names = (await listFiles(folder)).filter((name) => !reserved.has(name));
    const entries: Entry[] = names.map((name) => ({ name, from: join(folder, name) }));
    if (web_log !== undefined) entries.push({ name: ADDED.web, from: Buffer.from(web_log) });
    const homeLog = join(home, 'logs', 'service-code.log');
    if (await isFile(homeLog)) entries.push({ name: ADDED.global, from: homeLog });
    const desktopLog = join(home, 'logs', 'service-code-desktop.log');
    if (desktop && (await isFile(desktopLog))) entries.push({ name: ADDED.desktop, from: desktopLog });
    return entries;
  }

  function manifest(row: SessionHeader, entries: readonly Entry[]): Entry {
    const present = new Set(entries.map(({ name }) => name));
    const path = (key: string, name: string) => (present.has(name) ? { [key]: name } : {});
    const facts = {
      sessionId: row.id,
      exportedAt: iso(clock.now()),
      serviceCodeVersion: version,
      wireProtocolVersion: WIRE_PROTOCOL_VERSION,
      os: `${process.platform} ${process.arch}`,
      nodejsVersion: process.version,
      sessionFirstActivity: iso(row.createdAt),
      sessionLastActivity: iso(row.updatedAt),
      ...(row.title === '' ? {} : { title: row.title }),
      ...(row.cwd === '' ? {} : { workspaceDir: row.cwd }),
      ...path('sessionLogPath', SESSION_LOG),
      ...path('globalLogPath', ADDED.global),
      ...path('webLogPath', ADDED.web),
      ...path('desktopLogPath', ADDED.desktop),
    };
    return { name: ADDED.manifest, from: Buffer.from(`${JSON.stringify(facts, null, 2)}\n`) };
  }

  return async (id, request, signal) => {
    await index.ready();
    const row = live.get(id)?.row() ?? index.get(id);
    if (!row) throw new ServiceError('session.not_found', `Session "${id}" does not exist`);
    await live.flush(id);
    const entries = await entriesOf(row, request);
    const folder = join(home, 'cache');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, `export-${randomUUID()}.zip`);
    const file = await open(path, 'wx+', 0o600);
    try {
      // An unlinked file is removed when its last descriptor closes, also after a crash.
      await rm(path);
      await writeZip([manifest(row, entries), ...entries], file, signal);
      return { file, size: (await file.stat()).size };
    } catch (error) {
      await file.close();
      // A disconnected client is reported as such, not as an incomplete archive.
      signal.throwIfAborted();
      throw error;
    }
  };
}

const isFile = async (path: string) => (await stat(path).catch(() => undefined))?.isFile() === true;

/** Writes the entries serially; each file is read at that moment. */
async function writeZip(entries: readonly Entry[], target: FileHandle, signal: AbortSignal): Promise<void> {
  const { ZipFile } = await import('yazl');
  const zip = new ZipFile();
  const output = new PassThrough();
  let reading: Readable | undefined;
  zip.on('error', (error: Error) => output.destroy(error));
  for (const { name, from } of entries) {
    // Some unpackers treat a backslash as a separator.
    const path = name.replaceAll('\\', '_');
    if (typeof from !== 'string') zip.addBuffer(from, path);
    else
      zip.addReadStreamLazy(path, (give) => {
        readFileNow(from).then(
          (stream) => {
            reading = stream;
            give(null, stream);
          },
          (error: unknown) => give(error, Readable.from([])),
        );
      });
  }
  zip.end();
  zip.outputStream.pipe(output);
  try {
    for await (const chunk of output) {
      signal.throwIfAborted();
      const bytes: Buffer = chunk;
      await target.writeFile(bytes);
    }
  } finally {
    reading?.destroy();
  }
}

/**
 * Reads a file up to its present end, so that a log that is being written has a fixed length; empty if it was removed.
 */
async function readFileNow(path: string): Promise<Readable> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ELOOP') return Readable.from([]);
    throw error;
  }
  const facts = await file.stat();
  if (facts.isFile() && facts.size > 0) return file.createReadStream({ start: 0, end: facts.size - 1 });
  await file.close();
  return Readable.from([]);
}
