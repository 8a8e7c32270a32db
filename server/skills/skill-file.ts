/** Parser of skill files: front matter that describes a skill, and a body with its instructions. */
import * as z from 'zod';
import { checked, parseFrontMatter, splitFrontMatter } from '#server/files/front-matter.ts';
import { cutText } from '#server/text/truncate.ts';
import type { Skill } from './skill.ts';

/** Limit for a description that is derived from the body, with its `…`. */
const DERIVED_DESCRIPTION_CHARS = 240;
const MAX_NAME_CHARS = 200;
const MAX_ARGUMENTS = 100;

/** Content of a skill file. */
export type SkillFile = Pick<
  Skill,
  'name' | 'description' | 'whenToUse' | 'type' | 'kind' | 'disableModelInvocation' | 'arguments' | 'body'
> & {
  /** Whether the folders in its folder are searched for nested skills. */
  hasSubSkills: boolean;
};

const text = z.string().transform((given) => given.trim());
/** A name is part of lists with a line per skill, so it is a line. */
export const skillName = text.pipe(
  z
    .string()
    .min(1)
    .max(MAX_NAME_CHARS)
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must be one line'),
);
const argumentName = z
  .string()
  .regex(/^\S+$/u, 'must be without spaces')
  .refine((given) => !/^\d+$/.test(given), 'must not be a number');
const argumentNames = z
  .union([z.array(z.string()), z.string().transform((list) => list.split(/\s+/).filter((entry) => entry !== ''))])
  .pipe(z.array(argumentName).max(MAX_ARGUMENTS));

const KINDS = { prompt: 'inline', inline: 'inline', flow: 'flow', reference: 'reference' } as const;
const type = z.enum(['prompt', 'inline', 'flow', 'reference']);

const NO_MAPPING = 'the front matter is no mapping';
/** A key without a value is `null`. */
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((given) => given ?? undefined);
/** Blank text is absent. */
export const optionalText = optional(text).transform((given) => given || undefined);
const frontMatter = z.object(
  {
    name: optional(skillName),
    description: optionalText,
    type: optional(type),
    'when-to-use': optionalText,
    when_to_use: optionalText,
    whenToUse: optionalText,
    'disable-model-invocation': optional(z.boolean()),
    disableModelInvocation: optional(z.boolean()),
    arguments: optional(argumentNames),
    'has-sub-skill': optional(z.boolean()),
  },
  NO_MAPPING,
);
type FrontMatter = z.infer<typeof frontMatter>;

/** Parses a SKILL.md. Throws an error that states the problem. */
export async function parseSkillFolder(source: string): Promise<SkillFile> {
  const { head, body } = splitFrontMatter(source);
  if (head === undefined) throw new Error('it has no front matter');
  const fields = await parseFrontMatter(head, frontMatter);
  if (!fields.name) throw new Error('name: is required');
  if (!fields.description) throw new Error('description: is required');
  return skillFile({ ...fields, name: fields.name, description: fields.description }, body);
}

/** Parses a flat file. Its name defaults to `stem`, its description to the first line of the body. */
export async function parseFlatSkill(source: string, stem: string): Promise<SkillFile> {
  const { head, body } = splitFrontMatter(source);
  const fields: Partial<FrontMatter> = head === undefined ? {} : await parseFrontMatter(head, frontMatter);
  const description = fields.description ?? firstLine(body);
  if (description === '') throw new Error('it is empty');
  return skillFile({ ...fields, name: fields.name ?? checked(skillName, stem, 'name'), description }, body);
}

/** The first line with text, for a file without a description; empty if there is none. */
export function firstLine(body: string): string {
  const line = /\S.*/.exec(body)?.[0].trim() ?? '';
  return line.length <= DERIVED_DESCRIPTION_CHARS ? line : `${cutText(line, DERIVED_DESCRIPTION_CHARS - 1)}…`;
}

/** The body without blank lines at its start and end. */
export const trimmedBody = (body: string): string => body.replace(/^(?:[ \t]*\r?\n)+/, '').trimEnd();

function skillFile(fields: Partial<FrontMatter> & Pick<Skill, 'name' | 'description'>, body: string): SkillFile {
  const whenToUse = fields['when-to-use'] ?? fields.when_to_use ?? fields.whenToUse;
  const disabled = fields['disable-model-invocation'] ?? fields.disableModelInvocation;
  return {
    name: fields.name,
    description: fields.description,
    ...(whenToUse ? { whenToUse } : {}),
    ...(fields.type ? { type: fields.type } : {}),
    kind: KINDS[fields.type ?? 'inline'],
    ...(disabled === undefined ? {} : { disableModelInvocation: disabled }),
    arguments: fields.arguments ?? [],
    body: trimmedBody(body),
    hasSubSkills: fields['has-sub-skill'] ?? false,
  };
}
