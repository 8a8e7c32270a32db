/** Arguments of a command: parsing by Node's own parser, and the text of `--help`. */
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { defineCommand, renderUsage, type ArgsDef } from 'citty';
import * as z from 'zod';
import { errorMessage } from '#server/errors/service-error.ts';
import { StartError } from '#server/errors/start-error.ts';

export interface CommandDefinition<T> {
  /** The word that is typed, such as `run`. */
  name: string;
  description: string;
  /** The options and positional arguments, for `--help` and for the parser. */
  args: ArgsDef;
  /** Options that may be repeated. */
  repeatable?: readonly string[];
  /** Checks the values of the options, by their names; positional arguments are an array under `_`. */
  schema: z.ZodType<T>;
}

/** citty's text without its colours, which a pipe would show as codes. */
export async function usageText(name: string, description: string, args: ArgsDef): Promise<string> {
  const command = defineCommand({ meta: { name: `service-code ${name}`, description }, args });
  return stripVTControlCharacters(await renderUsage(command)).replace(/[ \t]+$/gm, '');
}

/** Parses the arguments after the command's name. Throws `StartError` for unknown options and invalid values. */
export function readArguments<T>(argv: string[], definition: CommandDefinition<T>): T {
  const { name, args, repeatable = [], schema } = definition;
  const options = Object.fromEntries(
    Object.entries(args)
      .filter(([, { type }]) => type !== 'positional')
      .map(([option, { type }]) => [
        option,
        {
          type: type === 'boolean' ? ('boolean' as const) : ('string' as const),
          multiple: repeatable.includes(option),
        },
      ]),
  );
  let parsed;
  try {
    parsed = parseArgs({ args: argv, options, allowPositionals: true });
  } catch (error) {
    const [sentence = ''] = errorMessage(error).split('. ');
    throw new StartError(`${name}: ${sentence.replace(/\.$/, '')}`);
  }
  const checked = schema.safeParse({ ...parsed.values, _: parsed.positionals });
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const [path] = issue?.path ?? [];
  throw new StartError(`${name}: ${path === '_' ? 'arguments' : `option '--${String(path)}'`}: ${issue?.message}`);
}
