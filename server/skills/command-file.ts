/** Parser of the command files of plugins: optional front matter, and a body that becomes a prompt. */
import * as z from 'zod';
import { parseFrontMatter, splitFrontMatter } from '#server/files/front-matter.ts';
import { firstLine, optionalText, skillName, trimmedBody } from './skill-file.ts';

/** Content of a command file. */
export interface CommandFile {
  /** Replaces the name that the path of the file gives; absent if the file sets none. */
  name?: string;
  description: string;
  body: string;
}

const frontMatter = z.object(
  { name: skillName.nullish(), description: optionalText },
  'the front matter is no mapping',
);

/** Parses a command file. Throws an error that states the problem. */
export async function parseCommandFile(source: string): Promise<CommandFile> {
  const { head, body } = splitFrontMatter(source);
  const { name, description }: Partial<z.infer<typeof frontMatter>> =
    head === undefined ? {} : await parseFrontMatter(head, frontMatter);
  const described = description ?? firstLine(body);
  if (described === '') throw new Error('it is empty');
  return { ...(name ? { name } : {}), description: described, body: trimmedBody(body) };
}
