/** Expands a skill for a conversation: its body with the arguments inserted, in a tag. */
import type { Skill } from './skill.ts';

export type SkillTrigger = 'user-slash' | 'model-tool' | 'nested-skill';

export interface SkillUse {
  /** The text after the skill's name, as typed. */
  args?: string | undefined;
  sessionId: string;
  trigger: SkillTrigger;
}

/** Limit for the inserted texts: a body may name a long argument any number of times. */
const MAX_INSERTED_CHARS = 8 * 1024 * 1024;

/** White space, a quoted text, other text, or a quote without its counterpart. */
const PIECE = /(\s+)|"([^"]*)"|'([^']*)'|[^\s"']+|["']/g;

/** Splits at white space; quotes group words and are removed. A quote without its counterpart is a character. */
export function splitArguments(args: string): string[] {
  const words: string[][] = [];
  let isNew = true;
  for (const [piece, space, double, single] of args.matchAll(PIECE)) {
    if (isNew && space === undefined) words.push([]);
    isNew = space !== undefined;
    if (!isNew) words.at(-1)?.push(double ?? single ?? piece);
  }
  return words.map((parts) => parts.join(''));
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string, characters: RegExp) =>
  text.replaceAll(characters, (character) => ENTITIES[character] ?? '');
const escapeValue = (text: string) => escaped(text, /[&<>]/g);
const escapeAttribute = (text: string) => escaped(text, /[&<>"]/g);

/** Texts of files and values joined, in which neither of the two tags is closed. */
const withoutClosingTags = (text: string) => text.replaceAll(/<(?=\/(?:skill-loaded|plugin-instructions))/gi, '&lt;');

const END_OF_WORD = String.raw`(?![\p{L}\p{N}_])`;
const inPattern = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** All placeholders, in the order in which they are tried at each position. */
function placeholders(names: readonly string[]): RegExp {
  // A name may be the beginning of another one.
  const declared = names.toSorted((a, b) => b.length - a.length).map(inPattern);
  const alternatives = [
    ...(declared.length === 0 ? [] : [`(?<name>${declared.join('|')})${END_OF_WORD}`]),
    String.raw`ARGUMENTS\[(?<index>\d+)\]`,
    String.raw`(?<number>\d+)${END_OF_WORD}`,
    '(?<all>ARGUMENTS)',
    String.raw`\{(?<variable>SERVICE_SKILL_DIR|SERVICE_SESSION_ID)\}`,
  ];
  return new RegExp(String.raw`(?<backslash>\\)?\$(?:${alternatives.join('|')})`, 'gu');
}

/** The body with the values inserted, and whether it has a placeholder of arguments. */
function substitute(skill: Skill, { args = '', sessionId }: SkillUse): { text: string; usesArguments: boolean } {
  const words = splitArguments(args);
  // Without arguments `$1` is part of an example, such as a shell script.
  const keepsNumbers = skill.arguments.length === 0 && words.length === 0;
  const variables: Record<string, string> = { SERVICE_SKILL_DIR: skill.dir, SERVICE_SESSION_ID: sessionId };
  const parts: string[] = [];
  let usesArguments = false;
  let inserted = 0;
  let end = 0;

  function valueOf({ name, index, number, variable }: Record<string, string | undefined>): string {
    if (variable !== undefined) return variables[variable] ?? '';
    if (name !== undefined) return words[skill.arguments.indexOf(name)] ?? '';
    const position = index ?? number;
    return position === undefined ? args : (words[Number(position)] ?? '');
  }

  function replacement(whole: string, groups: Record<string, string | undefined>): string {
    if (groups.backslash !== undefined) return whole.slice(1);
    if (groups.number !== undefined && keepsNumbers) return whole;
    if (groups.variable === undefined) usesArguments = true;
    const text = escapeValue(valueOf(groups));
    inserted += text.length;
    return inserted > MAX_INSERTED_CHARS ? whole : text;
  }

  for (const match of skill.body.matchAll(placeholders(skill.arguments))) {
    parts.push(skill.body.slice(end, match.index), replacement(match[0], match.groups ?? {}));
    end = match.index + match[0].length;
  }
  return { text: [...parts, skill.body.slice(end)].join(''), usesArguments };
}

/** The block that enters the conversation. The body is read a single time: inserted values are not examined again. */
export function expandSkill(skill: Skill, use: SkillUse): { text: string } {
  const { name, source, dir, plugin } = skill;
  const { args = '', trigger } = use;
  const { text, usesArguments } = substitute(skill, use);
  const instructions = plugin?.instructions?.trim();
  const attributes = Object.entries({ name, trigger, source, dir, args })
    .map(([key, value]) => `${key}="${escapeAttribute(value)}"`)
    .join(' ');
  const parts = [
    ...(plugin && instructions ? [instructionsOf(plugin.id, instructions)] : []),
    withoutClosingTags(text),
    ...(usesArguments || args.trim() === '' ? [] : [`ARGUMENTS: ${escapeValue(args)}`]),
  ];
  return { text: `<skill-loaded ${attributes}>\n${parts.join('\n\n')}\n</skill-loaded>` };
}

const instructionsOf = (id: string, text: string) =>
  `<plugin-instructions plugin="${escapeAttribute(id)}">\n${withoutClosingTags(text)}\n</plugin-instructions>`;
