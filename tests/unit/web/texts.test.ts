/** All texts of the page are in its catalogue: `web/messages/`. */
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { parse } from 'vue/compiler-sfc';

const web = new URL('../../../web/', import.meta.url);
const files = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter(
    (path) =>
      /\.(vue|ts)$/.test(path) && !/^(messages|stories|dist|node_modules)\/|\.d\.ts$|^vite\.|^ui\/sprite/.test(path),
  )
  .map((path) => ({ path, text: readFileSync(new URL(path, web), 'utf8') }));

const isWord = (text: string) => /\p{L}{2,}/u.test(text);

/** Names of files, variables and keys, which have no translation. */
const NAMES = new Set([
  '#token=…',
  'server.token',
  'config.toml',
  'SERVICE_CODE_PLUGIN_MARKETPLACE_URL',
  'experimental.auto_session_title',
  'auto_session_title',
]);
/** Examples of what is typed. */
const isExample = (text: string) => /^(npx|my-provider|https:\/\/\S+|[\w-]+[=:] ?\$\{\w+\})$/.test(text);
const isKeys = (text: string) => /^(Alt|Mod|Shift)\+\S+$/.test(text);
const TEXT_ATTRIBUTES = /^(aria-label|title|placeholder|alt|label|hint|text|description|heading|headline)$/;

interface Node {
  type: number;
  tag?: string;
  content?: unknown;
  props?: readonly { type: number; name: string; value?: { content: string } }[];
  children?: readonly Node[];
  branches?: readonly Node[];
}

/** The texts of a template that are no expressions. */
function textsIn(node: Node): string[] {
  const own = node.type === 2 && typeof node.content === 'string' ? [node.content.trim()] : [];
  const attributes = (node.props ?? []).flatMap(({ type, name, value }) =>
    type === 6 && value && TEXT_ATTRIBUTES.test(name) && !isKeys(value.content) ? [value.content] : [],
  );
  return [
    ...[...own, ...attributes].filter((text) => isWord(text) && !NAMES.has(text) && !isExample(text)),
    ...[...(node.children ?? []), ...(node.branches ?? [])].flatMap(textsIn),
  ];
}

it('no template has a text', () => {
  const found = files.flatMap(({ path, text }) => {
    const template = path.endsWith('.vue') ? parse(text).descriptor.template : null;
    return template?.ast ? textsIn(template.ast as unknown as Node).map((words) => `${path}: ${words}`) : [];
  });
  expect(found).toEqual([]);
});

/** Literals that look like texts but are none. */
const NO_TEXTS = new Set([
  // Members of types, and labels of the protocol.
  'on failure',
  'while running',
  'Reject and Exit',
  // The agent reads them.
  'Review comments on the changes:',
  ' (removed lines)',
  // Keys, and parts of HTML.
  'command ◦',
  'draft ◦',
  'file ◦',
  'group ◦',
  'formula displayed',
  'noopener noreferrer',
  '.row, .actions button',
]);
const isSentence = (text: string) =>
  /^\p{Lu}?[\p{Ll}’]+ [\p{L}◦]|[\p{Ll}◦] \p{Ll}{2,}(?: |[.,]|$)|^\p{Lu}\p{Ll}+ ?[….]+$/u.test(text) &&
  !text.includes('=');
/** Members whose value is displayed. */
const DISPLAYED = /^(label|title|verb|text|hint|placeholder|setUp|subject|heading|description)$/;

function literalOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('◦');
}

/** The literals of a script that people would read; messages of errors are for developers. */
function literalsIn(node: ts.Node): string[] {
  if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isThrowStatement(node)) return [];
  if (ts.isNewExpression(node) && node.expression.getText() === 'Error') return [];
  const literal = literalOf(node);
  if (literal !== undefined) {
    const { parent } = node;
    const isDisplayed = ts.isPropertyAssignment(parent) && DISPLAYED.test(parent.name.getText());
    const isText = isSentence(literal) || (isDisplayed && /^\p{Lu}\p{Ll}/u.test(literal));
    if (isText && !NO_TEXTS.has(literal)) return [literal];
  }
  const found: string[] = [];
  ts.forEachChild(node, (child) => void found.push(...literalsIn(child)));
  return found;
}

it('no script has a text', () => {
  const found = files.flatMap(({ path, text }) => {
    const script = path.endsWith('.vue') ? (parse(text).descriptor.scriptSetup?.content ?? '') : text;
    const source = ts.createSourceFile(path, script, ts.ScriptTarget.Latest, true);
    return literalsIn(source).map((words) => `${path}: ${words}`);
  });
  expect(found).toEqual([]);
});

it('state/ and render/ return keys: only the rest of the page turns them into text', () => {
  const toText = /import \{[^}]*\b(?:t|textOf)\b[^}]*\} from '[./]*messages\//;
  expect(files.filter(({ path, text }) => /^(state|render)\//.test(path) && toText.test(text))).toEqual([]);
});
