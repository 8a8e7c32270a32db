/** Views of the calls that read, write, edit and find files. */
import { textOf, type Args, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';

export type EditBody = { kind: 'edit'; before: string; after: string };
export type WriteBody = { kind: 'write'; path: string; content: string };

function edit(path: string, before: string, after: string): ToolSummary {
  const body: EditBody = { kind: 'edit', before, after };
  return { verb: 'Edit', subject: path, path, body, opens: 'always', output: 'on failure' };
}

function write(path: string, content: string): ToolSummary {
  const body: WriteBody = { kind: 'write', path, content };
  return { verb: 'Write', subject: path, path, body, output: 'on failure' };
}

const find = (verb: string, what: string, path: string): ToolSummary => ({
  verb,
  subject: [what, path].filter(Boolean).join(' in '),
});
const pattern = (verb: string) => (args: Args) => find(verb, textOf(args, 'pattern'), textOf(args, 'path'));

export const fileViews: ToolViews = {
  tools: {
    Read: (args) => ({ verb: 'Read', subject: textOf(args, 'path') }),
    ReadMediaFile: (args) => ({
      verb: 'View',
      subject: textOf(args, 'path'),
      opens: 'always',
      output: 'on failure',
    }),
    Write: (args) => write(textOf(args, 'path'), textOf(args, 'content')),
    Edit: (args) => edit(textOf(args, 'path'), textOf(args, 'old_string'), textOf(args, 'new_string')),
    Grep: pattern('Search'),
    Glob: pattern('Find'),
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
          return { verb: 'Read', subject: path };
        case 'grep':
          return find('Search', detail, path);
        case 'glob':
          return find('Find', detail, path);
      }
    },
  },
};
