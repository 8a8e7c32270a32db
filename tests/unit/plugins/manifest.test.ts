import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readManifest } from '#server/plugins/manifest.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { writeFiles } from '#support/plugins.ts';

const folder = useTemporaryFolder();
const root = () => join(folder.path, 'plugin');
const MANIFEST = 'service.plugin.json';

/** Reads the manifest of a plugin with these files; the diagnostics as `severity message`. */
async function read(manifest: unknown, files: Record<string, unknown> = {}) {
  await writeFiles(root(), { ...files, [MANIFEST]: manifest });
  const { manifest: parsed, diagnostics } = await readManifest(root());
  return { manifest: parsed, findings: diagnostics.map(({ severity, message }) => `${severity} ${message}`) };
}

describe('the file', () => {
  it('is missing', async () => {
    await mkdir(root());
    expect(await readManifest(root())).toEqual({
      manifest: undefined,
      diagnostics: [
        {
          severity: 'error',
          message: 'the manifest is missing (service.plugin.json or .service-plugin/plugin.json)',
          path: join(root(), MANIFEST),
        },
      ],
    });
  });

  it.each([
    ['no JSON', '{', /^error the manifest is not valid JSON/],
    ['empty', '', /^error the manifest is not valid JSON/],
    ['a list', '[]', /^error the manifest is not an object$/],
    ['null', 'null', /^error the manifest is not an object$/],
    ['Latin-1', Buffer.from('{"name":"caf\xe9"}', 'latin1'), /not valid JSON: it is not UTF-8$/],
    ['nested too deeply', `{"name":${'['.repeat(300)}${']'.repeat(300)}}`, /nested too deeply$/],
    ['without a name', '{"version":"1"}', /^error "name" is missing$/],
    ['with a name that is no text', '{"name":7}', /^error "name" is missing$/],
    ['with a name in upper case', '{"name":"Tools"}', /^error "name" must match/],
    ['with an empty name', '{"name":""}', /^error "name" must match/],
    ['with a name that is a path', '{"name":"../x"}', /^error "name" must match/],
    ['with a name of 65 characters', JSON.stringify({ name: 'x'.repeat(65) }), /^error "name" must match/],
    ['larger than 1 MiB', JSON.stringify({ name: 'x', y: 'y'.repeat(1024 * 1024) }), /is larger than 1048576 bytes$/],
  ])('is %s', async (_what, text, finding) => {
    const { manifest, findings } = await read(text);
    expect(manifest).toBeUndefined();
    expect(findings).toEqual([expect.stringMatching(finding)]);
  });

  it('may start with a byte order mark, and quotes no value when it is broken', async () => {
    expect((await read('\uFEFF{"name":"tools"}')).manifest).toMatchObject({ id: 'tools' });
    expect((await read('{"name":"tools", "token": "s3cret" oops')).findings.join()).not.toContain('s3cret');
  });

  it('is a pipe, a link out of the plugin, or a directory', async () => {
    await mkdir(root());
    execFileSync('mkfifo', [join(root(), MANIFEST)]);
    expect((await readManifest(root())).diagnostics).toMatchObject([
      { message: expect.stringMatching('not a regular') },
    ]);

    const linked = join(folder.path, 'linked');
    await mkdir(linked);
    await writeFile(join(folder.path, 'secret'), '{"name":"tools"}');
    await symlink('../secret', join(linked, MANIFEST));
    expect((await readManifest(linked)).diagnostics).toMatchObject([
      { severity: 'error', message: expect.stringMatching('leads out of the plugin') },
    ]);

    const directory = join(folder.path, 'directory');
    await mkdir(join(directory, MANIFEST), { recursive: true });
    expect((await readManifest(directory)).manifest).toBeUndefined();
  });

  it('is looked up in a folder of its own, and the one at the root hides it', async () => {
    await writeFiles(root(), { '.service-plugin/plugin.json': { name: 'inner' } });
    expect((await readManifest(root())).manifest).toMatchObject({ id: 'inner' });
    await writeFiles(root(), { [MANIFEST]: { name: 'outer' } });
    const { manifest, diagnostics } = await readManifest(root());
    expect(manifest).toMatchObject({ id: 'outer' });
    expect(diagnostics).toEqual([
      { severity: 'info', message: expect.any(String), path: join(root(), '.service-plugin', 'plugin.json') },
    ]);
  });
});

it('trims texts, ignores display members of other types, and reports members that are not supported', async () => {
  const { manifest, findings } = await read({
    name: 'tools',
    version: '  1.0 ',
    interface: { displayName: '  ' },
    author: 5,
    keywords: 'x',
    tools: [],
    apps: {},
    inject: 1,
    configFile: 'x',
    config_file: 'x',
    bootstrap: true,
    unknown: 1,
  });
  expect(manifest).toMatchObject({ version: '1.0', displayName: undefined });
  expect(findings).toEqual(
    ['tools', 'apps', 'inject', 'configFile', 'config_file', 'bootstrap'].map(
      (field) => `info "${field}" is not supported and is ignored`,
    ),
  );
  expect((await read({ name: 'tools', version: 3, interface: [] })).manifest).toMatchObject({ version: undefined });
});

describe('skills and agents', () => {
  it.each(['skills', 'agents'])('%s must be paths inside the plugin', async (field) => {
    await mkdir(join(folder.path, 'outside'));
    await mkdir(root());
    await symlink('../outside', join(root(), 'link'));
    const check = async (value: unknown) =>
      (await read({ name: 'tools', [field]: value }, { 'in/a.md': 'x' })).findings;
    expect(await check(7)).toEqual([`error "${field}" must be a path or a list of paths`]);
    expect(await check(['./in', 7])).toEqual([`error "${field}" must be a path or a list of paths`]);
    expect(await check('in')).toEqual([`error "${field}": "in" does not start with "./"`]);
    expect(await check('/etc')).toEqual([`error "${field}": "/etc" does not start with "./"`]);
    expect(await check('./../outside')).toEqual([`error "${field}": "./../outside" leads out of the plugin`]);
    expect(await check('./../missing')).toEqual([`error "${field}": "./../missing" leads out of the plugin`]);
    expect(await check('./link')).toEqual([`error "${field}": "./link" leads out of the plugin`]);
    expect(await check('./link/missing')).toEqual([`error "${field}": "./link/missing" leads out of the plugin`]);
    expect(await check('./none')).toEqual([`warn "${field}": "./none" is not a directory`]);
    expect(await check('./in/a.md')).toEqual([`warn "${field}": "./in/a.md" is not a directory`]);
    expect(await check('./in')).toEqual([]);
  });

  it('are found in named directories', async () => {
    const { manifest } = await read(
      { name: 'tools', skills: ['./a', './b/', './a'], agents: './c' },
      { 'a/x': '', 'b/x': '', 'c/x': '', 'SKILL.md': 'x', 'agents/x.md': 'x' },
    );
    expect(manifest).toMatchObject({
      skillFolders: [join(root(), 'a'), join(root(), 'b/')],
      skillFile: undefined,
      agentFolders: [join(root(), 'c')],
    });
  });

  it('have defaults: the root SKILL.md alone, and the directory agents', async () => {
    expect((await read({ name: 'tools' }, { 'skills/x.md': '' })).manifest).toMatchObject({
      skillFolders: [],
      skillFile: undefined,
      agentFolders: [],
    });
    expect((await read({ name: 'tools' }, { 'SKILL.md': '', 'agents/x.md': '' })).manifest).toMatchObject({
      skillFolders: [],
      skillFile: join(root(), 'SKILL.md'),
      agentFolders: [join(root(), 'agents')],
    });
  });
});

it('drops bad commands with a warning', async () => {
  const { manifest, findings } = await read(
    { name: 'tools', commands: ['./one.md', './more', './none', './text.txt', 'one.md', './../x'] },
    { 'one.md': '', 'more/a.md': '', 'text.txt': '' },
  );
  expect(manifest?.commands).toEqual([
    { kind: 'file', path: join(root(), 'one.md') },
    { kind: 'directory', path: join(root(), 'more') },
  ]);
  expect(findings).toEqual([
    'warn "commands": "./none" is neither a file nor a directory',
    'warn "commands": "./text.txt" is not a .md file',
    'warn "commands": "one.md" does not start with "./"',
    'warn "commands": "./../x" leads out of the plugin',
  ]);
  expect((await read({ name: 'tools', commands: { a: 1 } })).findings).toEqual([
    'warn "commands" must be a path or a list of paths',
  ]);
});

it('drops bad hooks with a warning', async () => {
  const { manifest, findings } = await read({
    name: 'tools',
    hooks: [
      { event: 'Stop', command: 'true', timeout: 5 },
      { event: 'Nope', command: 'true' },
      { event: 'Stop', command: '' },
      { event: 'Stop', command: 'true', extra: 1 },
      'x',
    ],
  });
  expect(manifest?.hooks).toEqual([{ event: 'Stop', command: 'true', timeout: 5 }]);
  expect(findings).toEqual([1, 2, 3, 4].map((at) => expect.stringMatching(`^warn "hooks.${at}" is invalid: `)));
  expect((await read({ name: 'tools', hooks: {} })).findings).toEqual(['warn "hooks" must be a list']);
  const many = Array.from({ length: 1001 }, () => ({ event: 'Stop', command: 'true' }));
  const bounded = await read({ name: 'tools', hooks: many });
  expect(bounded.manifest?.hooks).toHaveLength(1000);
  expect(bounded.findings).toEqual(['warn "hooks" has more than 1000 entries; the others are dropped']);
});

it('drops bad servers with a warning, and resolves commands and directories inside the plugin', async () => {
  await mkdir(root());
  await symlink('/bin', join(root(), 'bin-link'));
  await symlink('/bin/sh', join(root(), 'sh'));
  const { manifest, findings } = await read(
    {
      name: 'tools',
      mcpServers: {
        ' named ': { command: 'node', args: ['${SERVICE_PLUGIN_ROOT}/x.js'], env: { A: '${B:-c}' } },
        inside: { transport: 'stdio', command: './run', cwd: './work' },
        remote: { url: 'https://example.com/mcp' },
        named: { command: 'node' },
        '  ': { command: 'node' },
        escaping: { command: './../../bin/sh' },
        linked: { command: './sh' },
        absolute: { command: '/bin/sh' },
        relative: { command: 'bin/sh' },
        absent: { command: './none' },
        outside: { command: 'node', cwd: './bin-link' },
        upward: { command: 'node', cwd: './..' },
        bare: { command: 'node', cwd: 'work' },
        strange: { transport: 'pigeon' },
        number: 5,
        slow: { command: 'node', startupTimeoutMs: 0 },
      },
    },
    { run: '', 'work/x': '' },
  );
  expect(manifest?.mcpServers).toEqual([
    {
      name: 'named',
      config: {
        transport: 'stdio',
        command: 'node',
        args: ['${SERVICE_PLUGIN_ROOT}/x.js'],
        env: { A: '${B:-c}' },
        cwd: root(),
      },
    },
    { name: 'inside', config: { transport: 'stdio', command: join(root(), 'run'), cwd: join(root(), 'work') } },
    { name: 'remote', config: { transport: 'http', url: 'https://example.com/mcp' } },
  ]);
  expect(findings.map((finding) => finding.replace(/ (is|has|occurs) .*/, ''))).toEqual(
    [
      'named',
      '',
      'escaping',
      'linked',
      'absolute',
      'relative',
      'absent',
      'outside',
      'upward',
      'bare',
      'strange',
      'number',
      'slow',
    ].map((name) => `warn "mcpServers.${name}"`),
  );
  expect((await read({ name: 'tools', mcpServers: [] })).findings).toEqual(['warn "mcpServers" must be an object']);
});

it('accepts a server whose name is that of a member of every object', async () => {
  const { manifest } = await read(
    '{"name":"tools","mcpServers":{"__proto__":{"command":"node"},"constructor":{"command":"x"}}}',
  );
  expect(manifest?.mcpServers.map(({ name }) => name)).toEqual(['__proto__', 'constructor']);
});

it('joins the texts for system prompts, each of at most 32 KiB', async () => {
  const text = async (members: object, files = {}) => {
    const { manifest, findings } = await read({ name: 'tools', ...members }, files);
    return [manifest?.systemPrompt, ...findings];
  };
  const files = { 'prompt.md': '  from the file\n' };
  expect(await text({})).toEqual([undefined]);
  expect(await text({ systemPrompt: ' here ', systemPromptPath: './prompt.md' }, files)).toEqual([
    'here\n\nfrom the file',
  ]);
  expect(await text({ systemPrompt: '  ' })).toEqual([undefined]);
  expect(await text({ systemPrompt: 'ä'.repeat(16_384) })).toEqual(['ä'.repeat(16_384)]);
  expect(await text({ systemPrompt: `${'ä'.repeat(16_384)}.` })).toEqual([
    undefined,
    'warn "systemPrompt" is larger than 32768 bytes',
  ]);
  expect(await text({ systemPrompt: 5, systemPromptPath: 5 })).toEqual([
    undefined,
    'warn "systemPrompt" must be a text',
    'warn "systemPromptPath" must be a text that starts with "./"',
  ]);
  for (const [path, reason] of [
    ['./../secret', 'leads out of the plugin'],
    ['./none', 'is not a file'],
    ['./big.md', /^warn "systemPromptPath" cannot be read: .* is larger than 32768 bytes$/],
    ['./latin.md', /^warn "systemPromptPath" cannot be read: /],
  ] as const) {
    const found = await text(
      { systemPrompt: 'kept', systemPromptPath: path },
      { 'big.md': 'x'.repeat(32_769), 'latin.md': Buffer.from('\xe9', 'latin1') },
    );
    const finding = typeof reason === 'string' ? `warn "systemPromptPath" ${reason}` : expect.stringMatching(reason);
    expect(found).toEqual(['kept', finding]);
  }
});

it('reads the skill of the session start', async () => {
  expect((await read({ name: 'tools', sessionStart: { skill: ' intro ' } })).manifest?.sessionStartSkill).toBe('intro');
  for (const sessionStart of [5, 'intro', {}, { skill: '' }, [], { skill: 3 }]) {
    expect((await read({ name: 'tools', sessionStart })).findings).toEqual([
      'warn "sessionStart" must be an object with the name of a skill',
    ]);
  }
});
