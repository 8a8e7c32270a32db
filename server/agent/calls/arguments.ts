/** From the model's raw argument text to a tool's arguments (engine.md §4 item 1). */
import type { Tool } from '#server/tools/tool.ts';

/** Empty text and text that is no JSON count as `{}`; the schema then says what is missing. */
function parseArguments(text: string | null): unknown {
  if (!text?.trim()) return {};
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** All schema errors joined with `; `, each with the path of its field. */
export function validateArguments(tool: Tool, argsJsonText: string | null): { args: unknown } | { error: string } {
  const parsed = tool.parameters.safeParse(parseArguments(argsJsonText));
  if (parsed.success) return { args: parsed.data };
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join('.')}: ${message}` : message,
  );
  return { error: problems.join('; ') };
}
