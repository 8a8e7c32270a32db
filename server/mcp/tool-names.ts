/** Names of MCP tools as models call them. */

const PREFIX = 'mcp__';
/** Longer names are refused by vendors. */
const MAX_CHARS = 64;
const KEPT_CHARS = 55;

/** The tool by which the user of a server signs in. */
export const AUTHENTICATE = 'authenticate';

const part = (text: string): string => text.replace(/[^A-Za-z0-9_-]/g, '_').replace(/_+/g, '_');

/** `mcp__<server>__<tool>`; a long one is cut, with a hash of all of it behind. */
export function qualifiedName(server: string, tool: string): string {
  const name = `${PREFIX}${part(server)}__${part(tool)}`;
  if (name.length <= MAX_CHARS) return name;
  return `${name.slice(0, KEPT_CHARS)}_${fnv1a(name).toString(16).padStart(8, '0')}`;
}

/** The server part of such a name, undefined where there is none. */
export function serverOfTool(name: string): string | undefined {
  if (!name.startsWith(PREFIX)) return undefined;
  const end = name.indexOf('__', PREFIX.length);
  return end === -1 ? undefined : name.slice(PREFIX.length, end);
}

export const isMcpTool = (name: string): boolean => name.startsWith(PREFIX);

/** 32 bits; names are ASCII here. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
