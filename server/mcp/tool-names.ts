/** Names of MCP tools, as models use them. */

const PREFIX = 'mcp__';
/** Vendors reject longer names. */
const MAX_CHARS = 64;
const KEPT_CHARS = 55;

/** The tool that starts the sign-in of a server. */
export const AUTHENTICATE = 'authenticate';

const part = (text: string): string => text.replace(/[^A-Za-z0-9_-]/g, '_').replace(/_+/g, '_');

/** `mcp__<server>__<tool>`; a long name is cut and ends with a hash of the whole. */
export function qualifiedName(server: string, tool: string): string {
  const name = `${PREFIX}${part(server)}__${part(tool)}`;
  if (name.length <= MAX_CHARS) return name;
  return `${name.slice(0, KEPT_CHARS)}_${fnv1a(name).toString(16).padStart(8, '0')}`;
}

/** The server part of such a name, undefined for other names. */
export function serverOfTool(name: string): string | undefined {
  if (!name.startsWith(PREFIX)) return undefined;
  const end = name.indexOf('__', PREFIX.length);
  return end === -1 ? undefined : name.slice(PREFIX.length, end);
}

export const isMcpTool = (name: string): boolean => name.startsWith(PREFIX);

/** 32-bit FNV-1a hash; the names are ASCII here. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
