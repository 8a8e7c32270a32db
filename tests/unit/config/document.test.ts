import { describe, expect, it } from 'vitest';
import { parseToml, toTable } from '#server/config/document.ts';
import { editToml } from '#server/config/document-edit.ts';
import type { TomlTable } from '#server/config/document.ts';

const source = `# top comment
default_model = "a/b"   # the default
my_unknown = 3 # keep

[providers.fake]
# inside
type = "native"
api_key = "k"

[providers."managed:x".oauth]
storage = "file"
key = "oauth/x"

[models."fake/b"] # trailing
provider = "fake"
max_context_size = 1000
# cap
capabilities = ["thinking", "image_in"]

[models."fake/b".overrides]
display_name = "X"

[models.other]
model = "o"

[[hooks]]
event = "Stop"
command = "x"
# tail
`;

async function edit(text: string, change: (document: Record<string, unknown>) => Record<string, unknown>) {
  const after: TomlTable = toTable(change(JSON.parse(JSON.stringify(parseToml(text)))));
  const edited = await editToml(text, after);
  expect(parseToml(edited.text)).toEqual(after);
  return edited;
}

const table = (value: unknown): Record<string, unknown> => (typeof value === 'object' ? { ...value } : {});

describe('editing the text of the configuration', () => {
  it('leaves all other lines unmodified', async () => {
    const { text, commentsKept } = await edit(source, (document) => ({ ...document, default_model: 'c' }));
    expect(text).toBe(source.replace('"a/b"', '"c"'));
    expect(commentsKept).toBe(true);
  });

  it('appends new records and sections, in order', async () => {
    const { text, commentsKept } = await edit(source, (document) => ({
      ...document,
      providers: { ...table(document.providers), 'my acme': { type: 'openai', env: { A_b: 'x' } } },
      models: {
        ...table(document.models),
        'my acme/x:1': { provider: 'my acme', max_context_size: 5, support_efforts: [] },
      },
      thinking: { enabled: false },
      services: { search: { base_url: 'http://s', custom_headers: { 'X-My_h': 'v' } } },
      auto_session_title: true,
    }));
    expect(commentsKept).toBe(true);
    for (const comment of ['# top comment', '# inside', '# trailing', '# cap', '# tail'])
      expect(text).toContain(comment);
    expect(Object.keys(table(parseToml(text).providers))).toEqual(['fake', 'managed:x', 'my acme']);
    expect(text).toContain('[providers."my acme"]');
    expect(text).toContain('[models."my acme/x:1"]');
  });

  it('preserves the position and the comments of a renamed record whose values change too', async () => {
    const { text, commentsKept } = await edit(source, (document) => {
      const providers = table(document.providers);
      const models = table(document.models);
      return {
        ...document,
        providers: { fresh: { type: 'openai', api_key: 'k' }, 'managed:x': providers['managed:x'] },
        models: { 'fresh/b': { ...table(models['fake/b']), provider: 'fresh' }, other: models.other },
      };
    });
    expect(commentsKept).toBe(true);
    expect(text).toContain('# inside');
    expect(Object.keys(table(parseToml(text).models))).toEqual(['fresh/b', 'other']);
  });

  it('swaps records when only their order changed', async () => {
    const { text } = await edit(source, (document) => {
      const models = table(document.models);
      return { ...document, models: { other: models.other, 'fake/b': models['fake/b'] } };
    });
    expect(Object.keys(table(parseToml(text).models))).toEqual(['other', 'fake/b']);
  });

  it('adds an array of tables to a file that has none', async () => {
    const { text, commentsKept } = await edit('[a]\nx = 1 # c\n', (document) => ({
      ...document,
      hooks: [{ event: 'Stop', command: 'x' }],
    }));
    expect(text).toBe('[a]\nx = 1 # c\n\n[[hooks]]\nevent = "Stop"\ncommand = "x"\n');
    expect(commentsKept).toBe(true);
  });

  it('removes records, sections and hooks', async () => {
    const { text } = await edit(source, (document) => ({
      default_model: document.default_model,
      providers: { fake: table(document.providers).fake },
    }));
    expect(text).not.toContain('[models');
    expect(text).toContain('# top comment');
  });

  it('starts an empty file, and keeps Windows line ends', async () => {
    expect((await edit('', () => ({ default_model: 'x', thinking: { enabled: true } }))).text).toBe(
      'default_model = "x"\n\n[thinking]\nenabled = true\n',
    );
    const { text } = await edit('[a]\r\nx = 1 # c\r\n', (document) => ({ ...document, b: { y: 2 } }));
    expect(text).toBe('[a]\r\nx = 1 # c\r\n\r\n[b]\r\ny = 2\r\n');
  });

  it('edits tables that are written inline', async () => {
    const inline = 'models = { "a/b" = { model = "b" } } # mine\n';
    const { text } = await edit(inline, (document) => ({
      ...document,
      models: { ...table(document.models), 'a/c': { model: 'c' } },
    }));
    expect(Object.keys(table(parseToml(text).models))).toEqual(['a/b', 'a/c']);
  });

  it('preserves unchanged dates and integers beyond 2^53', async () => {
    const odd = `when = 2020-01-02T03:04:05Z # w
day = 2020-01-02
time = 03:04:05
local = 2020-01-02T03:04:05
elsewhere = 2020-01-02 03:04:05.5-07:00
big = 9007199254740993
`;
    const after = parseToml(odd);
    after.extra = 'x';
    expect((await editToml(odd, after)).text).toContain(odd.trim());
  });

  it('reports the position of invalid TOML, but not its content', () => {
    expect(() => parseToml('a = 1\napi_key = "secret\n')).toThrow(/^not valid TOML at line 2, column 18$/);
  });
});
