/** Capabilities of a model: the declared ones and those inferred from its wire name. Declarations only add. */

/** Capabilities inferred from the name of a family; the first match applies. */
const FAMILIES: [name: RegExp, words: string[]][] = [
  [/(^|[/.:-])claude-([12]([.-]\d)?$|instant)/, ['tool_use']],
  [/(^|[/.:-])claude/, ['image_in', 'tool_use']],
  [/gemini-(2\.5|[3-9])/, ['image_in', 'video_in', 'audio_in', 'thinking', 'tool_use']],
  [/gemini/, ['image_in', 'video_in', 'audio_in', 'tool_use']],
  [/(^|\/)gpt-5/, ['image_in', 'thinking', 'tool_use']],
  [/(^|\/)gpt-4(o|\.1|\.5|-turbo)/, ['image_in', 'tool_use']],
  [/(^|\/)gpt-/, ['tool_use']],
  [/(^|\/)o[134]-mini/, ['thinking', 'tool_use']],
  [/(^|\/)o[134](-|$)/, ['image_in', 'thinking', 'tool_use']],
];

/** Returns the effective set, trimmed and lower-cased. */
export function modelCapabilities(wireName: string, declared: readonly string[] = []): Set<string> {
  const words = new Set(declared.flatMap((word) => word.trim().toLowerCase() || []));
  const family = FAMILIES.find(([name]) => name.test(wireName.toLowerCase()));
  for (const word of family?.[1] ?? []) words.add(word);
  if (words.has('always_thinking')) words.add('thinking');
  return words;
}
