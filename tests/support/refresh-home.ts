/** A home whose providers are refreshed from a scripted cloud, and its servers. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { refreshReportSchema, type RefreshReport } from '#schema/rest/refresh.ts';
import { parseToml, toTable, type TomlTable } from '#server/config/document.ts';
import { startServer, type TestServer, type TestServerOptions } from './server.ts';
import { temporaryHome } from './temporary-home.ts';

export interface RefreshHome {
  home: string;
  /** Starts a server until the test has finished; no refresh runs at its start unless the options say otherwise. */
  start(options?: TestServerOptions): Promise<TestServer>;
  text(): Promise<string>;
  document(): Promise<TomlTable>;
  /** The file's time and inode, which differ after each write. */
  stamp(): Promise<string>;
  write(text: string): Promise<void>;
}

/** `cloudUrl`: origin of the scripted cloud, for the managed API. */
export async function refreshHome(config: string, cloudUrl?: string): Promise<RefreshHome> {
  const home = await temporaryHome();
  const path = join(home, 'config.toml');
  await writeFile(path, config);
  const env = {
    SERVICE_CODE_MODEL_CATALOG_REFRESH_ON_START: '0',
    ...(cloudUrl !== undefined && { SERVICE_CODE_CLOUD_URL: cloudUrl }),
  };
  return {
    home,
    async start(options = {}) {
      const server = await startServer({ home, env: () => env, ...options });
      onTestFinished(server.close);
      return server;
    },
    text: () => readFile(path, 'utf8'),
    document: async () => toTable(parseToml(await readFile(path, 'utf8'))),
    async stamp() {
      const { mtimeMs, ino } = await stat(path);
      return `${ino} ${mtimeMs}`;
    },
    write: (text) => writeFile(path, text),
  };
}

/** Refreshes and returns the report; `path` is that of the endpoint. */
export async function refreshed({ api }: Pick<TestServer, 'api'>, path = '/providers:refresh'): Promise<RefreshReport> {
  const { code, msg, data } = await api('POST', path);
  if (code !== 0) throw new Error(`${code} ${msg}`);
  return refreshReportSchema.parse(data);
}
