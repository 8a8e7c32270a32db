/** Slash commands: the skills, and the commands of plugins, that a person can activate. */
import { go } from 'fuzzysort';
import type { SkillDescriptor } from '@service-code/client';
import type { TypedPart } from '../../state/typed-part.ts';
import type { Candidate } from '../feature.ts';

export interface SkillCandidate extends Candidate {
  skill: SkillDescriptor;
  /** The name, divided at the borders of what the query has matched. */
  pieces: readonly { text: string; isMatched: boolean }[];
}

const LIMIT = 100;
/** Below it, matches are letters from all over a text. */
const MIN_SCORE = 0.3;
/** Weight of a match in the description, compared with one in the name. */
const DESCRIPTION_WEIGHT = 0.8;
/** The rest of a longer description is not searched. */
const SEARCHED_CHARS = 1000;

const OFFERED: ReadonlySet<string> = new Set(['prompt', 'inline', 'flow', 'command']);
const isOffered = ({ type }: SkillDescriptor) => type === undefined || OFFERED.has(type);

/** The skills that can be activated; others, such as references, are only listed. */
export const offeredSkills = (skills: readonly SkillDescriptor[]): SkillDescriptor[] => skills.filter(isOffered);

export const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** The name that is being typed after a `/` at the start of the text, or after other such names there. */
export function slashAt(text: string, caret: number): TypedPart | undefined {
  const [, before = '', opened] = /^((?:\/\S+[ \t]+)*)(\/\S*)$/.exec(text.slice(0, caret)) ?? [];
  if (opened === undefined) return undefined;
  const start = before.length;
  const typed = /^\/\S*/.exec(text.slice(start))?.[0] ?? opened;
  const end = start + typed.length;
  // A `/` that was typed before an existing word is not followed by a name.
  if (caret === start + 1 && typed.length > 1) return undefined;
  return { start, end, query: text.slice(start + 1, caret) };
}

/** Fuzzy search in names and descriptions, the best match first; all in their order for an empty query. */
export function matchingSkills(skills: readonly SkillDescriptor[], query: string): SkillCandidate[] {
  if (query === '') {
    return skills.slice(0, LIMIT).map((skill) => candidate(skill, [{ text: skill.name, isMatched: false }]));
  }
  const found = go(query, skills, {
    keys: [({ name }) => name, ({ description }) => description.slice(0, SEARCHED_CHARS)],
    limit: LIMIT,
    threshold: MIN_SCORE,
    scoreFn: ([name, description]) => Math.max(name?.score ?? 0, (description?.score ?? 0) * DESCRIPTION_WEIGHT),
  });
  return found.map(({ obj: skill, 0: name }) => candidate(skill, piecesOf(skill.name, name?.indexes ?? [])));
}

const candidate = (skill: SkillDescriptor, pieces: SkillCandidate['pieces']): SkillCandidate => ({
  key: skill.name,
  insertion: { text: `/${skill.name}` },
  skill,
  pieces,
});

function piecesOf(name: string, indexes: readonly number[]): SkillCandidate['pieces'] {
  const matched = new Set(indexes);
  const pieces: { text: string; isMatched: boolean }[] = [];
  for (const [index, unit] of name.split('').entries()) {
    const isMatched = matched.has(index);
    const last = pieces.at(-1);
    if (last?.isMatched === isMatched) last.text += unit;
    else pieces.push({ text: unit, isMatched });
  }
  return pieces;
}

/** `<file>`, `[--all]`, `$name`; links in Markdown are none. */
const PLACEHOLDER = /<[\w-][\w .|:-]*>|\[[\w<-][\w <>.|:=-]*\](?!\()|\$[A-Za-z]\w*/g;
const MAX_PLACEHOLDERS = 4;

/** The arguments that a description names; empty if it names none. */
export function argumentHint(description: string): string {
  const named = description.slice(0, SEARCHED_CHARS).match(PLACEHOLDER) ?? [];
  return [...new Set(named)].slice(0, MAX_PLACEHOLDERS).join(' ');
}

/**
 * The skills that a text names at its start, if there are several, and the prompt after them. A command of a plugin is
 * always a prompt of its own, so it is part of the text then.
 */
export function severalSkillsOf(
  text: string,
  skills: readonly SkillDescriptor[],
): { names: string[]; prompt: string } | undefined {
  const combinable = skills.filter(({ type }) => type !== 'command');
  const names: string[] = [];
  let prompt = text;
  for (let found = activationOf(prompt, combinable); found; found = activationOf(prompt, combinable)) {
    names.push(found.name);
    prompt = found.args ?? '';
  }
  return names.length > 1 ? { names, prompt } : undefined;
}

/** The skill that a text activates, and its arguments; the longest name, since names may have spaces. */
export function activationOf(
  text: string,
  skills: readonly SkillDescriptor[],
): { name: string; args?: string } | undefined {
  const isTyped = ({ name }: SkillDescriptor) =>
    text.startsWith('/') &&
    isSameName(text.slice(1, name.length + 1), name) &&
    /^(?:\s|$)/.test(text.slice(name.length + 1));
  const [skill] = skills.filter(isTyped).toSorted((a, b) => b.name.length - a.name.length);
  if (!skill) return undefined;
  const args = text.slice(skill.name.length + 1).trim();
  return { name: skill.name, ...(args && { args }) };
}
