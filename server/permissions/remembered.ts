/** The rule that an approval "for the session" remembers: the call's text, and the directory that it is valid for. */
import { escapeGlob } from '#server/files/globs.ts';
import { isInWorkspace } from '#server/runtime/path-policy.ts';
import type { RememberedRule } from '#server/journal/projections/context.ts';
import type { CommandCall } from './command-call.ts';
import type { FileAccess, PermissionCall, PermissionScope } from './decision.ts';

const ruleText = (toolName: string, text: string) => `${toolName}(${escapeGlob(text)})`;

interface Surroundings {
  places: PermissionScope;
  command: CommandCall | undefined;
  files(): Promise<FileAccess[]>;
}

/**
 * Returns the rule for exactly this call; undefined for an empty subject, whose rule would equal the bare name and
 * allow everything. Paths are stored with links resolved, so that changing a link approves no other file. A search
 * outside the workspace is stored by its path, inside by its pattern with the path as the directory: the two forms
 * cannot be confused.
 */
export async function rememberedRule(
  { toolName, subject }: PermissionCall,
  { places, command, files }: Surroundings,
): Promise<RememberedRule | undefined> {
  const { text, match } = subject;
  if (text === undefined) return { rule: toolName };
  if (text === '') return undefined;
  if (match === 'command') {
    return command && { rule: ruleText(toolName, text), dir: (await command.directory()).path };
  }
  const accessed = match === 'literal' ? [] : await files();
  const [file, another] = accessed;
  if (another) return undefined;
  if (!file) return { rule: ruleText(toolName, text) };
  if (match === 'path') return { rule: ruleText(toolName, file.real) };
  return (await isInWorkspace(file.real, places))
    ? { rule: ruleText(toolName, text), dir: file.real }
    : { rule: ruleText(toolName, file.real) };
}

/** Returns the rule that would remember one simple command. */
export const rememberedCommand = (toolName: string, command: string, dir: string): RememberedRule => ({
  rule: ruleText(toolName, command),
  dir,
});
