/** Evaluates the grammar's tree of a line: whether it is plain, and all its commands, however nested. */
import type { SyntaxNode, SyntaxTree } from './parser.ts';
import { isInputDevice } from './shells.ts';
import { unquote } from '#server/processes/shell-words.ts';

const PLAIN_NAMED = new Set(
  (
    'program list pipeline negated_command command command_name variable_assignment variable_name comment word number ' +
    'raw_string string string_content concatenation brace_expression simple_expansion expansion special_variable_name ' +
    'redirected_statement file_redirect file_descriptor'
  ).split(' '),
);
const PLAIN_TOKENS = new Set(
  '; & && || | |& ! \n = == =~ [ ] { } , .. " $ ${ > >> &> &>> < >& <& >&- <&-'.split(' ').concat(['\n']),
);
/** Text allowed between the parts of one command: blanks and line continuations. */
const GAP = /^(?:[ \t]|\\\n)*$/;

function isPlainNode(node: SyntaxNode, parent: SyntaxNode | undefined, line: string): boolean {
  const { type, named, children } = node;
  if (!named) {
    if (type === '$') return parent?.type === 'string' || parent?.type === 'simple_expansion';
    return PLAIN_TOKENS.has(type);
  }
  if (!PLAIN_NAMED.has(type)) return false;
  switch (type) {
    case 'word':
    case 'number':
      return !line.slice(node.start, node.end).includes('\n');
    case 'command_name':
      return children.length === 1 && children[0]?.type === 'word';
    case 'variable_assignment':
      return parent?.type === 'command';
    case 'expansion':
      return children.map((child) => child.type).join(' ') === '${ variable_name }';
    case 'file_redirect':
      return (
        children.filter((child) => child.named && child.type !== 'file_descriptor').length <= 1 &&
        hasPlainGaps(node, line)
      );
    case 'command':
    case 'redirected_statement':
      return hasPlainGaps(node, line);
    default:
      return true;
  }
}

function hasPlainGaps({ children }: SyntaxNode, line: string): boolean {
  return children.every((child, index) => {
    const before = children[index - 1];
    return !before || GAP.test(line.slice(before.end, child.start));
  });
}

/** Yields every node, parents first. Iterative, because hostile lines nest deeply. */
function* walk(root: SyntaxNode): Generator<[node: SyntaxNode, parent: SyntaxNode | undefined]> {
  const open: [SyntaxNode, SyntaxNode | undefined][] = [[root, undefined]];
  for (let next = open.pop(); next; next = open.pop()) {
    yield next;
    const [node] = next;
    for (const child of node.children.toReversed()) open.push([child, node]);
  }
}

/** Returns the names of the simple commands in order; undefined when the tree has any other node (opaque). */
export function plainNames({ root, hasError }: SyntaxTree, line: string): string[] | undefined {
  if (hasError || root.type !== 'program') return undefined;
  const names: string[] = [];
  for (const [node, parent] of walk(root)) {
    if (!isPlainNode(node, parent, line)) return undefined;
    if (node.type === 'command_name') names.push(line.slice(node.start, node.end));
  }
  return names;
}

const NO_WORDS = new Set([
  'variable_assignment',
  'file_redirect',
  'heredoc_redirect',
  'herestring_redirect',
  'comment',
]);

const REDIRECTS = new Set(['file_redirect', 'heredoc_redirect', 'herestring_redirect']);

/** Returns a redirection's words after its target: the grammar parses `rm 2>/dev/null -rf x` as three targets. */
const furtherTargets = ({ children }: SyntaxNode): SyntaxNode[] =>
  children.filter((child) => child.named && child.type !== 'file_descriptor').slice(1);

/** Returns the command that a redirection after a statement belongs to. */
function lastCommand(statement: SyntaxNode | undefined): SyntaxNode | undefined {
  let node = statement;
  while (node && node.type !== 'command') node = node.children.findLast(({ named }) => named);
  return node;
}

/** Returns the source of the words; Bash joins words that only a line continuation separates. */
function joinWords(nodes: readonly SyntaxNode[], line: string): string[] {
  const words: string[] = [];
  let end: number | undefined;
  for (const node of nodes) {
    const source = line.slice(node.start, node.end);
    const joined = end !== undefined && line.slice(end, node.start).replaceAll('\\\n', '') === '';
    // The grammar parses `{ {` as one word.
    const parts = node.type === 'word' ? source.split(/(?<!\\)[ \t]+/) : [source];
    if (joined) words.push((words.pop() ?? '') + (parts.shift() ?? ''));
    words.push(...parts);
    end = node.end;
  }
  return words;
}

/** Returns the body of the line's here-document; more of the text where the delimiter is ambiguous. */
function hereDocument(line: string, at: number): string {
  const end = line.indexOf('\n', at);
  if (end === -1) return '';
  const rest = line.slice(end + 1);
  const begun = line.slice(line.lastIndexOf('\n', at) + 1, end);
  const [, tabs, word = ''] = /<<(-?)[ \t]*((?:'[^']*'|"[^"]*"|\\.|[^\s'"\\;&|()<>])+)/.exec(begun) ?? [];
  if (begun.split('<<').length > 2) return rest;
  const rows = rest.split('\n');
  const delimiter = unquote(word).text;
  const closed = rows.findIndex((row) => (tabs ? row.replace(/^\t+/, '') : row) === delimiter);
  return closed === -1 ? rest : rows.slice(0, closed).join('\n');
}

/** The input of a command, where its redirections specify it. */
export interface CommandInput {
  /** Texts of here-documents and here-strings. */
  lines(): string[];
  /** Whether the input is a file, equivalent to a file operand. */
  fromFile: boolean;
}

function inputOf(redirects: readonly SyntaxNode[], line: string): CommandInput {
  const sources = (node: SyntaxNode) => line.slice(node.start, node.end);
  const strings = redirects.filter(({ type }) => type === 'herestring_redirect');
  const documents = redirects.filter(({ type }) => type === 'heredoc_redirect');
  const file = redirects.some(({ type, children }) => {
    const [operator, target] = children;
    return (
      type === 'file_redirect' &&
      operator?.type === '<' &&
      target?.type !== 'process_substitution' &&
      !isInputDevice(target ? sources(target) : '')
    );
  });
  return {
    lines: () => [
      ...strings.flatMap(({ children }) => children.slice(-1).map((word) => unquote(sources(word)).text)),
      ...documents.map(({ start }) => hereDocument(line, start)),
    ],
    fromFile: file,
  };
}

export interface FoundCommand {
  /** Source of the words. */
  words: string[];
  input: CommandInput;
}

/** Finds every command: below errors, in substitutions, in any other node. */
export function allCommands({ root }: SyntaxTree, line: string): FoundCommand[] {
  const commands = new Map<SyntaxNode, { words: SyntaxNode[]; redirects: SyntaxNode[] }>();
  const at = (node: SyntaxNode) => {
    const known = commands.get(node) ?? { words: [], redirects: [] };
    commands.set(node, known);
    return known;
  };
  for (const [node] of walk(root)) {
    if (node.type !== 'command' && node.type !== 'redirected_statement') continue;
    const redirects = node.children.filter(({ type }) => REDIRECTS.has(type));
    const targets = redirects.filter(({ type }) => type === 'file_redirect').flatMap(furtherTargets);
    const owner =
      node.type === 'command' ? node : (lastCommand(node.children[0]) ?? (targets.length > 0 ? node : undefined));
    if (!owner) continue;
    // Redirections after a statement are visited first, because their node is an ancestor.
    const { words, redirects: known } = at(owner);
    words.push(...targets, ...(node.type === 'command' ? node.children.filter(({ type }) => !NO_WORDS.has(type)) : []));
    known.push(...redirects);
  }
  return [...commands.values()]
    .filter(({ words }) => words.length > 0)
    .map(({ words, redirects }) => ({
      words: joinWords(
        words.sort((one, other) => one.start - other.start),
        line,
      ),
      input: inputOf(redirects, line),
    }));
}
