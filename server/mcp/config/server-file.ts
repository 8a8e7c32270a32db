/** A file that names MCP servers: `{"mcpServers": {name: entry}}`. */
import * as z from 'zod';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';
import { UnsuitableFile, readRegular } from '#server/files/read-regular.ts';
import { isRecord, parseJson } from '#server/text/json.ts';
import { jsonErrorReason } from '#server/text/json-error.ts';
import { mcpServerConfigSchema, type McpServerConfig } from '#schema/config/mcp-server.ts';

const MAX_BYTES = 1024 * 1024;

/** Codes for a missing file. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR']);

export interface ServerFile {
  /** The whole document, including unknown members. */
  document: Record<string, unknown>;
  /** In the order of the file. */
  servers: ReadonlyMap<string, McpServerConfig>;
}

const unreadable = (path: string, reason: string) =>
  new ServiceError('validation.failed', `Invalid MCP server config in ${path}: ${reason}`);

/** Derives an omitted transport from `command` or `url`. */
export function withTransport(entry: unknown): unknown {
  if (!isRecord(entry) || entry.transport !== undefined) return entry;
  if (entry.command !== undefined) return { ...entry, transport: 'stdio' };
  return entry.url === undefined ? entry : { ...entry, transport: 'http' };
}

/** The text, empty for a missing file. Throws `validation.failed` if it is unreadable, too large or not a file. */
async function readText(path: string): Promise<string> {
  try {
    const bytes = await readRegular(path, { maxBytes: MAX_BYTES });
    return Buffer.from(bytes)
      .toString('utf8')
      .replace(/^\uFEFF/, '');
  } catch (error) {
    const code = errorCode(error);
    if (ABSENT.has(code ?? '')) return '';
    throw unreadable(
      path,
      error instanceof UnsuitableFile ? error.message : `the file cannot be read (${code ?? errorMessage(error)})`,
    );
  }
}

/** Throws `validation.failed` if the document, or one of its entries, is invalid. */
function parseServerFile(text: string, path: string): ServerFile {
  if (text.trim() === '') return { document: {}, servers: new Map() };
  let document: unknown;
  try {
    document = parseJson(text);
  } catch (error) {
    throw new ServiceError('validation.failed', `Invalid JSON in ${path}: ${jsonErrorReason(error, text)}`);
  }
  if (!isRecord(document)) throw unreadable(path, 'the document is no object');
  const { mcpServers = {} } = document;
  if (!isRecord(mcpServers)) throw unreadable(path, 'mcpServers is no object');
  const servers = new Map<string, McpServerConfig>();
  for (const [name, entry] of Object.entries(mcpServers)) {
    const parsed = mcpServerConfigSchema.safeParse(withTransport(entry));
    if (!parsed.success) throw unreadable(path, `mcpServers.${name}: ${firstIssue(parsed.error)}`);
    servers.set(name, parsed.data);
  }
  return { document, servers };
}

function firstIssue({ issues: [issue] }: z.ZodError): string {
  if (!issue) return 'invalid';
  const at = issue.path.join('.');
  return at === '' ? issue.message : `${at}: ${issue.message}`;
}

/** A missing or empty file has no servers. Throws `validation.failed`; the message quotes no value of the file. */
export async function readServerFile(path: string): Promise<ServerFile> {
  return parseServerFile(await readText(path), path);
}
