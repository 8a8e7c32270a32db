/** Parser of agent files: front matter that configures an agent, and a body that is its system prompt. */
import * as z from 'zod';
import { checked, parseFrontMatter, splitFrontMatter } from '#server/files/front-matter.ts';

/** Content of an agent file; `name` defaults to the file's name. */
export interface AgentFile {
  name: string;
  description: string;
  whenToUse?: string;
  /** Whether it replaces a built-in profile of its name. */
  override: boolean;
  tools: readonly string[] | '*';
  disallowedTools?: readonly string[];
  subagents?: readonly string[] | '*';
  /** Template of the system prompt, with placeholders. */
  template: string;
}

const text = z.string().transform((given) => given.trim());
/** A list, or its entries separated by commas. */
const names = z
  .union([z.array(z.string()), z.string().transform((list) => list.split(','))])
  .transform((list) => list.map((entry) => entry.trim()).filter((entry) => entry !== ''));
const anyOrNames = z.union([z.literal('*'), names]);

const name = text.pipe(
  z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case words with dashes between them'),
);
const frontMatter = z.object(
  {
    name: name.optional(),
    description: text.pipe(z.string().min(1)),
    whenToUse: text.optional(),
    override: z.boolean().default(false),
    tools: anyOrNames.default('*'),
    disallowedTools: names.optional(),
    subagents: anyOrNames.optional(),
  },
  'the front matter is no mapping',
);

/** Throws an error that states the problem. `baseName` is without `.md`. */
export async function parseAgentFile(source: string, baseName: string): Promise<AgentFile> {
  const { head, body } = splitFrontMatter(source);
  if (head === undefined) throw new Error('it has no front matter');
  const { name: given, ...fields } = await parseFrontMatter(head, frontMatter);
  const template = body.trim();
  if (template === '') throw new Error('it has no prompt behind the front matter');
  const { whenToUse, disallowedTools, subagents, ...always } = fields;
  return {
    name: given ?? checked(name, baseName, 'name'),
    ...always,
    ...(whenToUse === undefined ? {} : { whenToUse }),
    ...(disallowedTools === undefined ? {} : { disallowedTools }),
    ...(subagents === undefined ? {} : { subagents }),
    template,
  };
}
