/** Edits of single tables: every other line of the file is unchanged. */
import { expect, it } from 'vitest';
import { parseToml, toTable, type TomlTable } from '#server/config/document.ts';
import { editToml } from '#server/config/document-edit.ts';
import { splitBlocks } from '#server/config/toml-blocks.ts';

const FILE = `# the file

default_model = "a/x" # default
telemetry = false

# the first provider
[providers.a] # a
type = "openai" # type
text = """
[models."a/x"]
"quoted\\""""
list = [
  "x", # [models.no]
  ["y"],
]
# end of a

[models."a/x"]
provider = "a"
[models."a/x".overrides]
max_context_size = 5 # five

# above y
[models.'a/y']
provider = "a"
name = '[models.z]'
# below y
[secondary_model]
default_model = "a/x"
[secondary_model.models]
"a/x" = "hint" # hint
# the end
`;

async function edited(change: (document: TomlTable) => void): Promise<string> {
  const after = toTable(parseToml(FILE));
  change(after);
  const { text, commentsKept } = await editToml(FILE, after);
  expect(commentsKept).toBe(true);
  expect(parseToml(text)).toEqual(after);
  return text;
}

const table = (value: unknown): TomlTable => Object(value);

it('blocks and their gaps are the whole text', () => {
  const blocks = splitBlocks(FILE, ['providers', 'models']) ?? [];
  expect(blocks.map(({ text, gap }) => text + gap).join('')).toBe(FILE);
  expect(blocks.map(({ path }) => path.join(' '))).toEqual([
    '',
    'providers a',
    'models a/x',
    'models a/y',
    'secondary_model',
  ]);
  expect(blocks.map(({ gap }) => gap)).toEqual([
    '\n# the first provider\n',
    '# end of a\n\n',
    '\n# above y\n',
    '# below y\n',
    '# the end\n',
  ]);
});

it('a changed member changes its line only', async () => {
  const text = await edited(({ models }) => void (table(table(models)['a/y']).provider = 'b'));
  expect(text).toBe(FILE.replace('[models.\'a/y\']\nprovider = "a"', '[models.\'a/y\']\nprovider = "b"'));
});

it('a removed record leaves the comments around it', async () => {
  const text = await edited(({ models }) => void delete table(models)['a/y']);
  expect(text).toBe(FILE.replace("[models.'a/y']\nprovider = \"a\"\nname = '[models.z]'\n", ''));
});

it('a new record is appended', async () => {
  const text = await edited(({ models }) => void (table(models)['b/x'] = toTable({ provider: 'b' })));
  expect(text).toBe(`${FILE}\n[models."b/x"]\nprovider = "b"\n`);
});

it('removed and changed top-level keys leave the comments', async () => {
  expect(await edited((document) => void delete document.default_model)).toBe(
    FILE.replace('default_model = "a/x" # default\n', ''),
  );
  expect(await edited((document) => void (document.default_model = 'a/y'))).toBe(
    FILE.replace('default_model = "a/x" # default', 'default_model = "a/y" # default'),
  );
});

it.each([
  ['', 'telemetry = true\n'],
  ['# note\n', '# note\ntelemetry = true\n'],
  ['# file\n\n# a\n[providers.a]\n', '# file\n\ntelemetry = true\n\n# a\n[providers.a]\n'],
  ['# a\n[providers.a]\n', 'telemetry = true\n\n# a\n[providers.a]\n'],
])('a first top-level key of %j precedes the tables and follows the comments of the file', async (before, wanted) => {
  const { text } = await editToml(before, toTable({ ...parseToml(before), telemetry: true }));
  expect(text).toBe(wanted);
});

it('the last top-level key can be removed', async () => {
  const { text } = await editToml('telemetry = true\n\n# a\n[providers.a]\n', toTable({ providers: { a: {} } }));
  expect(text).toBe('# a\n[providers.a]\n');
});

it('a file of 3,000 models is edited without long work for its other records', async () => {
  const records = Array.from({ length: 3000 }, (_, at) => [
    `p/${at}`,
    { provider: 'p', model: `${at}`, max_context_size: 5 },
  ]);
  const { text } = await editToml('', toTable({ models: Object.fromEntries(records) }));
  const after = toTable(parseToml(text));
  table(table(after.models)['p/5']).display_name = 'Five';
  delete table(after.models)['p/2000'];
  const started = performance.now();
  const { text: changed } = await editToml(text, after);
  // The library takes a minute for the whole text.
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(parseToml(changed)).toEqual(after);
});
