/** Changes of the user's `mcp.json`. Unknown members and the other entries are preserved verbatim. */
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { isRecord } from '#server/text/json.ts';
import type { ChangeLock } from '#server/storage/change-lock.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';
import { userFile } from './layers.ts';
import { readServerFile } from './server-file.ts';
import type { UserFileWriter } from './user-file-writer.ts';

export interface UserServers {
  /** Throws `validation.failed` if the name is in use. */
  add(name: string, config: McpServerConfig): Promise<void>;
  /** Throws `mcp.server_not_found`. */
  replace(name: string, config: McpServerConfig): Promise<void>;
  /** Throws `mcp.server_not_found`. */
  remove(name: string): Promise<void>;
}

type Entries = [name: string, entry: unknown][];

export const serverNotFound = (name: string) =>
  new ServiceError('mcp.server_not_found', `MCP server "${name}" was not found`);

export interface UserServersDeps {
  home: string;
  lock: ChangeLock<UserFileWriter>;
}

/** Serializes changes across the processes of a home. An unreadable file is not overwritten: `validation.failed`. */
export function createUserServers({ home, lock }: UserServersDeps): UserServers {
  const path = userFile(home);
  const changes = createSerialQueue();

  async function apply(change: (entries: Entries) => Entries, writer: UserFileWriter): Promise<void> {
    const { document } = await readServerFile(path);
    const { mcpServers } = document;
    const entries = change(isRecord(mcpServers) ? Object.entries(mcpServers) : []);
    // `fromEntries` also accepts the name `__proto__`, which an assignment would not define as a member.
    const text = `${JSON.stringify({ ...document, mcpServers: Object.fromEntries(entries) }, null, 2)}\n`;
    await writer.write(text);
  }

  const edit = (change: (entries: Entries) => Entries): Promise<void> =>
    changes.run(() => lock.hold((writer) => apply(change, writer)));

  const has = (entries: Entries, name: string) => entries.some(([known]) => known === name);

  return {
    add: (name, config) =>
      edit((entries) => {
        if (has(entries, name)) throw new ServiceError('validation.failed', `MCP server "${name}" already exists`);
        return [...entries, [name, config]];
      }),
    replace: (name, config) =>
      edit((entries) => {
        if (!has(entries, name)) throw serverNotFound(name);
        return entries.map(([known, entry]) => (known === name ? [known, config] : [known, entry]));
      }),
    remove: (name) =>
      edit((entries) => {
        if (!has(entries, name)) throw serverNotFound(name);
        return entries.filter(([known]) => known !== name);
      }),
  };
}
