/** What the grammar's tree says of a line: whether it is plain, and the commands in whatever they stand. */
import type { SyntaxNode, SyntaxTree } from './parser.ts';

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
/** Between the parts of one command stand blanks and continued lines. */
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

/** Every node, parents first. Without recursion: hostile lines nest deeply. */
function* walk(root: SyntaxNode): Generator<[node: SyntaxNode, parent: SyntaxNode | undefined]> {
  const open: [SyntaxNode, SyntaxNode | undefined][] = [[root, undefined]];
  for (let next = open.pop(); next; next = open.pop()) {
    yield next;
    const [node] = next;
    for (const child of node.children.toReversed()) open.push([child, node]);
  }
}

/** Names of the simple commands in order when the tree has nothing but plain ones; undefined when it is opaque. */
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

/** A redirection's words behind its target: the grammar takes `rm 2>/dev/null -rf x` for three targets. */
const furtherTargets = ({ children }: SyntaxNode): SyntaxNode[] =>
  children.filter((child) => child.named && child.type !== 'file_descriptor').slice(1);

/** The command that a redirection behind a statement goes to. */
function lastCommand(statement: SyntaxNode | undefined): SyntaxNode | undefined {
  let node = statement;
  while (node && node.type !== 'command') node = node.children.findLast(({ named }) => named);
  return node;
}

/** Source of the words; what only a line continuation divides is one word to Bash. */
function joinWords(nodes: readonly SyntaxNode[], line: string): string[] {
  const words: string[] = [];
  let end: number | undefined;
  for (const node of nodes) {
    const source = line.slice(node.start, node.end);
    const joined = end !== undefined && line.slice(end, node.start).replaceAll('\\\n', '') === '';
    if (joined) words.push((words.pop() ?? '') + source);
    else words.push(source);
    end = node.end;
  }
  return words;
}

/** The words of every command, as written: below errors, in substitutions, in whatever else they stand. */
export function allCommands({ root }: SyntaxTree, line: string): string[][] {
  const commands = new Map<SyntaxNode, SyntaxNode[]>();
  for (const [node] of walk(root)) {
    if (node.type !== 'command' && node.type !== 'redirected_statement') continue;
    const redirected = node.children.filter(({ type }) => type === 'file_redirect').flatMap(furtherTargets);
    if (node.type === 'command') {
      const words = node.children.filter(({ type }) => !NO_WORDS.has(type));
      // Redirections behind the statement were met first, being further up.
      const behind = commands.get(node) ?? [];
      commands.set(
        node,
        [...words, ...redirected, ...behind].sort((one, other) => one.start - other.start),
      );
    } else if (redirected.length > 0) {
      const owner = lastCommand(node.children[0]) ?? node;
      commands.set(owner, [...(commands.get(owner) ?? []), ...redirected]);
    }
  }
  return [...commands.values()].filter((nodes) => nodes.length > 0).map((nodes) => joinWords(nodes, line));
}
