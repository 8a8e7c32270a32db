/** Which tools an agent has: every layer must allow a tool. */
import { textGlob } from '#server/files/globs.ts';

export interface ToolLayers {
  /** Names the workspace forbids. */
  vetoed?: readonly string[];
  /** `*` is every tool. */
  profile: { tools: readonly string[] | '*'; disallowedTools?: readonly string[] | undefined };
  /** `[tools]`: a non-empty `enabled` is an allowlist, then `disabled` takes away. */
  config?: { enabled?: readonly string[]; disabled?: readonly string[] };
  /** `disabled_tools` of the session. */
  sessionDisabled?: readonly string[];
}

export interface ActiveTools {
  active: ReadonlySet<string>;
  /** Patterns of configuration and session that fit no tool there is: warning `tool-pattern-no-match`. */
  ineffective: string[];
}

const MCP_PREFIX = 'mcp__';

/** Prompts send these patterns unchecked: a broken one fits nothing and is reported as ineffective. */
function globFits(pattern: string, name: string): boolean {
  try {
    return textGlob(pattern)(name);
  } catch {
    return false;
  }
}

/** Non-MCP names match exactly; MCP names only by patterns that start with `mcp__`, as globs. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns);
  const globs = patterns.filter((pattern) => pattern.startsWith(MCP_PREFIX));
  return (name) => (name.startsWith(MCP_PREFIX) ? globs.some((glob) => globFits(glob, name)) : exact.has(name));
}

/** `names` are all tools there are now. */
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
