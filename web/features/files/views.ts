/** Views of the calls that read, write, edit and find files. */
import { t, type PlainKey } from '../../messages/messages.ts';
import { textOf, type Args, type DrawnCall, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';
import { outputText } from '../../state/tool-call.ts';
import { foundFiles, foundLines, type Hit, type HitsBody } from './hits.ts';

export type EditBody = { kind: 'edit'; before: string; after: string };
export type WriteBody = { kind: 'write'; path: string; content: string };

function edit(path: string, before: string, after: string): ToolSummary {
  const body: EditBody = { kind: 'edit', before, after };
  const change = { before, after };
  return {
    verb: t('tools.edit'),
    subject: path,
    path,
    body,
    opens: 'always',
    output: 'on failure',
    effect: 'changes',
    change,
  };
}

function write(path: string, content: string, verb: PlainKey = 'tools.write'): ToolSummary {
  const body: WriteBody = { kind: 'write', path, content };
  const change = { before: '', after: content };
  return { verb: t(verb), subject: path, path, body, output: 'on failure', effect: 'changes', change };
}

const find = (verb: PlainKey, what: string, path: string): ToolSummary => ({
  verb: t(verb),
  subject: what && path ? t('tools.whatIn', { what, path }) : what || path,
  effect: 'reads',
});

/** The hits replace the text of the result, if it has any. */
function withHits(summary: ToolSummary, hits: readonly Hit[]): ToolSummary {
  if (hits.length === 0) return summary;
  const body: HitsBody = { kind: 'hits', hits };
  return { ...summary, body, output: 'on failure', outcome: t('conversation.hits', { count: hits.length }) };
}

const isEnded = ({ output, state }: DrawnCall) => output !== undefined && state === 'done';

function grep(args: Args, call: DrawnCall): ToolSummary {
  const summary = find('tools.search', textOf(args, 'pattern'), textOf(args, 'path'));
  if (!isEnded(call)) return summary;
  const mode = textOf(args, 'output_mode') || 'files_with_matches';
  const output = outputText(call.output);
  if (mode === 'count_matches') return summary;
  return withHits(summary, mode === 'content' ? foundLines(output) : foundFiles(output));
}

function glob(args: Args, call: DrawnCall): ToolSummary {
  const summary = find('tools.find', textOf(args, 'pattern'), textOf(args, 'path'));
  return isEnded(call) ? withHits(summary, foundFiles(outputText(call.output))) : summary;
}

export const fileViews: ToolViews = {
  tools: {
    Read: (args) => ({ verb: t('tools.read'), subject: textOf(args, 'path'), effect: 'reads' }),
    ReadMediaFile: (args) => ({
      verb: t('tools.view'),
      subject: textOf(args, 'path'),
      opens: 'always',
      output: 'on failure',
    }),
    Write(args) {
      const verb = textOf(args, 'mode') === 'append' ? 'tools.append' : 'tools.write';
      return write(textOf(args, 'path'), textOf(args, 'content'), verb);
    },
    Edit: (args) => edit(textOf(args, 'path'), textOf(args, 'old_string'), textOf(args, 'new_string')),
    Grep: grep,
    Glob: glob,
  },
  displays: {
    diff: ({ path, before, after }) => edit(path, before, after),
    file_io({ path, operation, detail = '', before = '', after = '', content = '' }) {
      switch (operation) {
        case 'edit':
          return edit(path, before, after);
        case 'write':
          return write(path, content);
        case 'read':
          return { verb: t('tools.read'), subject: path, effect: 'reads' };
        case 'grep':
          return find('tools.search', detail, path);
        case 'glob':
          return find('tools.find', detail, path);
      }
    },
  },
};
