/** How a tool call is drawn, from its name and arguments, or from the server's display when the name says nothing. */
import type { Display } from '../client/types.ts';
import type { ToolCall } from '../state/session-view.ts';

export type ToolBody =
  | { kind: 'command'; command: string; cwd?: string | undefined }
  | { kind: 'edit'; path: string; before: string; after: string }
  | { kind: 'write'; path: string; content: string }
  /** Only the result is worth showing. */
  | { kind: 'result' }
  | { kind: 'json'; value: unknown };

export interface ToolSummary {
  /** One word: what is done. */
  verb: string;
  /** With what; shown in code type. */
  subject: string;
  body: ToolBody;
}

type Args = Record<string, unknown>;

/** Summary and body of a call. */
export function toolSummary(call: Pick<ToolCall, 'name' | 'input' | 'display' | 'label'>): ToolSummary {
  const args = isArgs(call.input) ? call.input : {};
  return byName(call.name, args) ?? (call.display && byDisplay(call.display)) ?? other(call, args);
}

/** Summary of an approval's display; every approval has one. */
export function displaySummary(toolName: string, display: Display): ToolSummary {
  return byDisplay(display) ?? { verb: toolName, subject: '', body: { kind: 'json', value: display } };
}

function byName(name: string, args: Args): ToolSummary | undefined {
  const text = (key: string) => (typeof args[key] === 'string' ? args[key] : '');
  switch (name) {
    case 'Bash': {
      const cwd = text('cwd') || undefined;
      return {
        verb: 'Run',
        subject: firstLine(text('command')),
        body: { kind: 'command', command: text('command'), cwd },
      };
    }
    case 'Edit': {
      const path = text('path');
      return {
        verb: 'Edit',
        subject: path,
        body: { kind: 'edit', path, before: text('old_string'), after: text('new_string') },
      };
    }
    case 'Write':
      return {
        verb: 'Write',
        subject: text('path'),
        body: { kind: 'write', path: text('path'), content: text('content') },
      };
    case 'Read':
      return { verb: 'Read', subject: text('path'), body: { kind: 'result' } };
    case 'Grep':
      return {
        verb: 'Search',
        subject: [text('pattern'), text('path')].filter(Boolean).join(' in '),
        body: { kind: 'result' },
      };
    case 'Glob':
      return {
        verb: 'Find',
        subject: [text('pattern'), text('path')].filter(Boolean).join(' in '),
        body: { kind: 'result' },
      };
    default:
      return undefined;
  }
}

function byDisplay(display: Display): ToolSummary | undefined {
  switch (display.kind) {
    case 'command':
      return {
        verb: 'Run',
        subject: firstLine(display.command),
        body: { kind: 'command', command: display.command, cwd: display.cwd },
      };
    case 'diff':
      return { verb: 'Edit', subject: display.path, body: { ...display, kind: 'edit' } };
    case 'file_io': {
      const { path, operation, detail, before, after, content } = display;
      if (operation === 'edit') {
        return { verb: 'Edit', subject: path, body: { kind: 'edit', path, before: before ?? '', after: after ?? '' } };
      }
      if (operation === 'write')
        return { verb: 'Write', subject: path, body: { kind: 'write', path, content: content ?? '' } };
      const verb = operation === 'read' ? 'Read' : operation === 'grep' ? 'Search' : 'Find';
      return { verb, subject: [detail, path].filter(Boolean).join(' in '), body: { kind: 'result' } };
    }
    case 'search':
      return { verb: 'Search', subject: display.query, body: { kind: 'result' } };
    case 'url_fetch':
      return { verb: 'Fetch', subject: display.url, body: { kind: 'result' } };
    case 'agent_call':
      return { verb: 'Agent', subject: display.agent_name, body: { kind: 'json', value: display.prompt } };
    case 'skill_call':
      return { verb: 'Skill', subject: display.skill_name, body: { kind: 'result' } };
    case 'generic':
      return { verb: '', subject: display.summary, body: { kind: 'json', value: display.detail } };
    default:
      return undefined;
  }
}

function other(call: Pick<ToolCall, 'name' | 'input' | 'label'>, args: Args): ToolSummary {
  const empty = Object.keys(args).length === 0 && isArgs(call.input);
  return {
    verb: call.name,
    subject: call.label ?? '',
    body: empty ? { kind: 'result' } : { kind: 'json', value: call.input },
  };
}

function isArgs(input: unknown): input is Args {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

function firstLine(text: string): string {
  const [line = '', ...rest] = text.trim().split('\n');
  return rest.length ? `${line} …` : line;
}

/** A path as people read it: relative inside the session's directory. */
export function shortPath(path: string, cwd: string | undefined): string {
  return cwd && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

/** The name of a language from a file's extension. */
export const languageOf = (path: string): string => /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
