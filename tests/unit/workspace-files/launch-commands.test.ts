/** The commands for every system; none is started. */
import { describe, expect, it } from 'vitest';
import {
  openCommand,
  openInCommand,
  revealCommand,
  type AppId,
  type LaunchCommand,
} from '#server/workspace-files/launch-commands.ts';

const file = { path: '/w/a b.ts', isDirectory: false };
const folder = { path: '/w/src', isDirectory: true };
const winFile = { path: 'C:\\w\\a b.ts', isDirectory: false };
const winFolder = { path: 'C:\\w\\src', isDirectory: true };
const mac = { platform: 'darwin', env: {} } as const;
const windows = { platform: 'win32', env: {} } as const;
const linux = { platform: 'linux', env: {} } as const;

/** `program [arguments]`. */
const shown = (command: LaunchCommand) =>
  'shell' in command ? `$ ${command.shell}` : `${command.program} ${JSON.stringify(command.args)}`;

describe('open', () => {
  it.each([
    ['macOS', shown(openCommand(mac, file)), 'open ["/w/a b.ts"]'],
    ['Windows', shown(openCommand(windows, winFile)), 'cmd.exe ["/d","/c","start","\\"\\"","\\"C:\\\\w\\\\a b.ts\\""]'],
    ['others', shown(openCommand(linux, folder)), 'xdg-open ["/w/src"]'],
  ])('uses the program of %s', (_system, command, expected) => expect(command).toBe(expected));

  it.each<[NodeJS.ProcessEnv, string]>([
    [{ SERVICE_CODE_EDITOR: 'vim -n', VISUAL: 'x', EDITOR: 'y' }, `$ vim -n '/w/it'\\''s $(x).ts'`],
    [{ SERVICE_CODE_EDITOR: '  ', VISUAL: 'code --wait', EDITOR: 'y' }, `$ code --wait '/w/it'\\''s $(x).ts:7'`],
    [{ EDITOR: '"/opt/My Editor/cursor"' }, `$ "/opt/My Editor/cursor" '/w/it'\\''s $(x).ts:7'`],
    [{ EDITOR: '/usr/bin/windsurf' }, `$ /usr/bin/windsurf '/w/it'\\''s $(x).ts:7'`],
    [{ EDITOR: 'codex' }, `$ codex '/w/it'\\''s $(x).ts'`],
  ])('prefers the editor of %o', (env, expected) => {
    for (const platform of ['linux', 'darwin'] as const) {
      const target = { path: "/w/it's $(x).ts", isDirectory: false, line: 7 };
      expect(shown(openCommand({ platform, env }, target))).toBe(expected);
    }
  });

  it('quotes as Windows does', () => {
    const env = { EDITOR: 'C:\\bin\\Code.cmd' };
    expect(shown(openCommand({ platform: 'win32', env }, winFile))).toBe('$ C:\\bin\\Code.cmd "C:\\w\\a b.ts"');
  });
});

it.each([
  ['macOS', shown(revealCommand(mac, file)), 'open ["-R","/w/a b.ts"]'],
  ['Windows', shown(revealCommand(windows, winFile)), 'explorer ["/select,\\"C:\\\\w\\\\a b.ts\\""]'],
  ['others', shown(revealCommand(linux, file)), 'xdg-open ["/w"]'],
])('reveals on %s', (_system, command, expected) => expect(command).toBe(expected));

describe('open-in', () => {
  const table: [AppId, string, string, string][] = [
    ['vscode', 'code ["-g","/w/a b.ts:3"]', 'code ["-g","/w/a b.ts:3"]', 'code ["/w/src"]'],
    ['cursor', 'cursor ["-g","/w/a b.ts:3"]', 'cursor ["-g","/w/a b.ts:3"]', 'cursor ["/w/src"]'],
    ['finder', 'open ["-R","/w/a b.ts"]', 'xdg-open ["/w"]', 'xdg-open ["/w/src"]'],
    ['iterm', 'open ["-a","iTerm","/w"]', 'xdg-open ["/w"]', 'xdg-open ["/w/src"]'],
    ['terminal', 'open ["-a","Terminal","/w"]', 'xdg-open ["/w"]', 'xdg-open ["/w/src"]'],
  ];
  it.each(table)('%s', (app, onMac, onLinux, ofFolder) => {
    expect(shown(openInCommand(mac, app, { ...file, line: 3 }))).toBe(onMac);
    expect(shown(openInCommand(linux, app, { ...file, line: 3 }))).toBe(onLinux);
    expect(shown(openInCommand(linux, app, folder))).toBe(ofFolder);
  });

  it('shows directories in the file manager', () => {
    expect(shown(openInCommand(mac, 'finder', folder))).toBe('open ["/w/src"]');
    expect(shown(openInCommand(windows, 'finder', winFolder))).toBe('explorer ["C:\\\\w\\\\src"]');
    expect(shown(openInCommand(windows, 'finder', winFile))).toContain('/select,');
    expect(shown(openInCommand(windows, 'terminal', winFile))).toContain('\\"C:\\\\w\\"');
  });

  it('opens terminals of other systems like any other directory', () => {
    const host = { platform: 'linux', env: { EDITOR: 'vim' } } as const;
    expect(shown(openInCommand(host, 'terminal', file))).toBe(`$ vim '/w'`);
  });
});
