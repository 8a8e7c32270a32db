/** Computes which tools an agent has: every layer must allow a tool. */
import { textGlob } from '#server/files/globs.ts';

export interface ToolLayers {
  /** Names of tools that the workspace forbids. */
  vetoed?: readonly string[];
  /** `*` is every tool. */
  profile: { tools: readonly string[] | '*'; disallowedTools?: readonly string[] | undefined };
  /** `[tools]`: a non-empty `enabled` is an allowlist, from which `disabled` is subtracted. */
  config?: { enabled?: readonly string[]; disabled?: readonly string[] };
  /** The session's `disabled_tools`. */
  sessionDisabled?: readonly string[];
}

export interface ActiveTools {
  active: ReadonlySet<string>;
  /** Patterns of configuration and session that match no existing tool: warning `tool-pattern-no-match`. */
  ineffective: string[];
}

const MCP_PREFIX = 'mcp__';

/** Patterns of prompts are not validated: a broken one matches no tool and is reported as ineffective. */
function globFits(pattern: string, name: string): boolean {
  try {
    return textGlob(pattern)(name);
  } catch {
    return false;
  }
}

/** Creates a matcher: exact for non-MCP names; MCP names match only patterns that start with `mcp__`, as globs. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns);
  const globs = patterns.filter((pattern) => pattern.startsWith(MCP_PREFIX));
  return (name) => (name.startsWith(MCP_PREFIX) ? globs.some((glob) => globFits(glob, name)) : exact.has(name));
}

/** Computes the active tools; `names` are all existing tools. */
export function activeTools(names: readonly string[], layers: ToolLayers): ActiveTools {
  const { vetoed = [], profile, config = {}, sessionDisabled = [] } = layers;
  const { enabled = [], disabled = [] } = config;
  const ofProfile = profile.tools === '*' ? () => true : matcher(profile.tools);
  const allowed = enabled.length === 0 ? () => true : matcher(enabled);
  const taken = matcher([...vetoed, ...(profile.disallowedTools ?? []), ...disabled, ...sessionDisabled]);
  const active = names.filter((name) => ofProfile(name) && allowed(name) && !taken(name));
  const configured = [...enabled, ...disabled, ...sessionDisabled];
  return {
    active: new Set(active),
    ineffective: [...new Set(configured)].filter((pattern) => !names.some(matcher([pattern]))),
  };
}
