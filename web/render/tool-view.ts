/** Views of tool calls: by name and arguments, or by the server's display if no view is registered for the name. */
import type { Display } from '@service-code/client';
import { isObject } from '../state/is-object.ts';
import type { ToolCall } from '../state/tool-call.ts';

/** The request of a call, as data; the component registered for `kind` draws it and reads the other members. */
export interface ToolBody {
  readonly kind: string;
  readonly [member: string]: unknown;
}

export interface ToolSummary {
  /** One word: the action. */
  verb: string;
  /** The object of the action; in code type unless it is `prose`. */
  subject: string;
  prose?: true;
  /** Undefined if only the result is displayed. */
  body?: ToolBody | undefined;
  /** The file that it changes, or the directory that it runs in, for an approval. */
  path?: string | undefined;
  cwd?: string | undefined;
  /** When the card opens automatically; default: never. */
  opens?: 'always' | 'while running';
  /** Default: unknown. A call that only reads is folded; one that changes files or asks the user stays visible. */
  effect?: 'reads' | 'changes' | 'asks';
  /** The text that it replaces in `path`, for counts of lines. */
  change?: { before: string; after: string };
  /** The result in a few words, such as an exit code; drawn for calls that have ended. */
  outcome?: string | undefined;
  /** `on failure`: the body contains all that a successful result would. */
  output?: 'on failure';
}

export type Args = Readonly<Record<string, unknown>>;
export type DrawnCall = Pick<ToolCall, 'name' | 'input' | 'display' | 'output'> &
  Partial<Pick<ToolCall, 'id' | 'state' | 'agents'>>;

type DisplayKind = Display['kind'];
type DisplayOf = { [K in DisplayKind]: Extract<Display, { kind: K }> };
type DisplayViews = { [K in DisplayKind]?: (display: DisplayOf[K]) => ToolSummary };

export interface ToolViews {
  /** By tool name. Arguments come from a model: any of them may be missing or of another type. */
  tools?: Readonly<Record<string, (args: Args, call: DrawnCall) => ToolSummary>>;
  displays?: DisplayViews;
}

/** Merges the views of several features; the first that is registered for a name or a kind draws it. */
export function createToolViews(registered: readonly ToolViews[]) {
  function byName(call: DrawnCall, args: Args): ToolSummary | undefined {
    const views = registered.find(({ tools }) => tools && Object.hasOwn(tools, call.name));
    return views?.tools?.[call.name]?.(args, call);
  }

  function byDisplay(display: Display): ToolSummary | undefined {
    const views = registered.find(({ displays }) => displays?.[display.kind]);
    return views?.displays && applied(views.displays, display.kind, display);
  }

  return {
    /** Summary and body of a call. */
    ofCall(call: DrawnCall): ToolSummary {
      const args = isObject(call.input) ? call.input : {};
      return byName(call, args) ?? (call.display && byDisplay(call.display)) ?? unknownTool(call, args);
    },
    /** Summary of the request of an approval; every approval has a display. */
    ofDisplay(toolName: string, display: Display): ToolSummary {
      return byDisplay(display) ?? { verb: toolName, subject: '', body: { kind: 'json', value: display } };
    },
  };
}

function applied<K extends DisplayKind>(views: DisplayViews, kind: K, display: DisplayOf[K]): ToolSummary | undefined {
  return views[kind]?.(display);
}

/** Names of tools of MCP servers. */
const MCP_TOOL = /^mcp__(.+?)__(.+)$/;
const LINE_CHARS = 200;

/** Arguments in one line: `path: "a.txt", depth: 2`. */
const argumentLine = (args: Args): string =>
  Object.entries(args)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ')
    .slice(0, LINE_CHARS);

function unknownTool(call: DrawnCall, args: Args): ToolSummary {
  const empty = Object.keys(args).length === 0 && isObject(call.input);
  const [, server, tool] = MCP_TOOL.exec(call.name) ?? [];
  return {
    verb: server === undefined ? call.name : `${server}: ${tool}`,
    subject: server === undefined ? '' : argumentLine(args),
    body: empty || call.input === undefined ? undefined : { kind: 'json', value: call.input },
  };
}

/** An argument that is a text, else the empty text. */
export function textOf(args: Args, name: string): string {
  const value = args[name];
  return typeof value === 'string' ? value : '';
}

/** The first line, marked when more follow. */
export function firstLine(text: string): string {
  const [line = '', ...rest] = text.trim().split('\n');
  return rest.length ? `${line} …` : line;
}

/** A path for display: relative inside the session's directory. */
export function shortPath(path: string, cwd: string | undefined): string {
  return cwd && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

/** The name of a language from a file's extension. */
export const languageOf = (path: string): string => /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
