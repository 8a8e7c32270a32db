/**
 * Tables of the programs that open a file or directory on each system; no process is started here. File names never
 * pass through a shell; only the user's editor setting is a shell command line.
 */
import { posix, win32 } from 'node:path';

export const APP_IDS = ['finder', 'cursor', 'vscode', 'iterm', 'terminal'] as const;
export type AppId = (typeof APP_IDS)[number];

export interface LaunchTarget {
  /** Absolute. */
  path: string;
  isDirectory: boolean;
  line?: number | undefined;
}

export interface LaunchHost {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
}

export type LaunchCommand =
  | {
      program: string;
      args: string[];
      /** Windows: the arguments are quoted as the program reads them. */ verbatim?: true;
    }
  /** A command line for the user's shell. */
  | { shell: string };

const EDITOR_VARIABLES = ['SERVICE_CODE_EDITOR', 'VISUAL', 'EDITOR'];
/** Editors that accept a line number after the path. */
const LINE_EDITORS = ['code', 'cursor', 'windsurf'];

const isWindows = ({ platform }: LaunchHost) => platform === 'win32';
const parentOf = (host: LaunchHost, path: string) => (isWindows(host) ? win32 : posix).dirname(path);
const directoryOf = (host: LaunchHost, { path, isDirectory }: LaunchTarget) =>
  isDirectory ? path : parentOf(host, path);

/** Quotes a file name for the shell; on Windows no file name contains a double quote. */
const quoted = (host: LaunchHost, text: string) =>
  isWindows(host) ? `"${text}"` : `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the base name of the program at the start of a shell command line. */
function programOf(line: string): string {
  const [, double, single, bare] = /^\s*(?:"([^"]*)"|'([^']*)'|(\S+))/.exec(line) ?? [];
  return win32.basename(double ?? single ?? bare ?? '').replace(/\.(exe|cmd)$/i, '');
}

function editorLine(host: LaunchHost, { path, line }: LaunchTarget): string | undefined {
  const editor = EDITOR_VARIABLES.map((name) => host.env[name]).find(
    (value) => value !== undefined && value.trim() !== '',
  );
  if (editor === undefined) return undefined;
  const place = line !== undefined && LINE_EDITORS.includes(programOf(editor)) ? `${path}:${line}` : path;
  return `${editor} ${quoted(host, place)}`;
}

/** Opens with the user's editor, or else with the system's default program. */
export function openCommand(host: LaunchHost, target: LaunchTarget): LaunchCommand {
  const shell = editorLine(host, target);
  if (shell !== undefined) return { shell };
  const { path } = target;
  if (host.platform === 'darwin') return { program: 'open', args: [path] };
  // `start` is a command of cmd; its first quoted argument is a title.
  if (isWindows(host)) return { program: 'cmd.exe', args: ['/d', '/c', 'start', '""', `"${path}"`], verbatim: true };
  return { program: 'xdg-open', args: [path] };
}

/** Opens the file manager, with the path selected where supported. */
export function revealCommand(host: LaunchHost, { path }: Pick<LaunchTarget, 'path'>): LaunchCommand {
  if (host.platform === 'darwin') return { program: 'open', args: ['-R', path] };
  if (isWindows(host)) return { program: 'explorer', args: [`/select,"${path}"`], verbatim: true };
  return { program: 'xdg-open', args: [parentOf(host, path)] };
}

function editorCommand(program: string, { path, line }: LaunchTarget): LaunchCommand {
  return { program, args: line === undefined ? [path] : ['-g', `${path}:${line}`] };
}

function finderCommand(host: LaunchHost, target: LaunchTarget): LaunchCommand {
  if (!target.isDirectory) return revealCommand(host, target);
  const { path } = target;
  if (host.platform === 'darwin') return { program: 'open', args: [path] };
  return { program: isWindows(host) ? 'explorer' : 'xdg-open', args: [path] };
}

function terminalCommand(host: LaunchHost, target: LaunchTarget, app: string): LaunchCommand {
  const path = directoryOf(host, target);
  if (host.platform === 'darwin') return { program: 'open', args: ['-a', app, path] };
  return openCommand(host, { path, isDirectory: true });
}

/** Opens with a specific program. */
export function openInCommand(host: LaunchHost, app: AppId, target: LaunchTarget): LaunchCommand {
  switch (app) {
    case 'vscode':
      return editorCommand('code', target);
    case 'cursor':
      return editorCommand('cursor', target);
    case 'finder':
      return finderCommand(host, target);
    case 'iterm':
      return terminalCommand(host, target, 'iTerm');
    case 'terminal':
      return terminalCommand(host, target, 'Terminal');
  }
}
