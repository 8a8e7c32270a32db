#!/usr/bin/env node
// Reports words to avoid in comments of all sources, titles of tests, and documents. Text in backticks is ignored.
//   node .ci/words.mjs [file or folder …]
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { EXCEPTIONS, OPENINGS, WORDS } from './word-list.mjs';

const SOURCE = /\.(ts|mjs|cjs|js)$/;
/** The list itself, and texts by other authors. */
const SKIPPED = /^(\.ci\/word-list\.mjs|LICENSE)$|(^|\/)(golden|fixtures|dist)\//;
const TITLED = /^(it|test|describe)\b/;
const COMMENT_START = /\/[/*]/;

/** A pattern that also matches a line break of a comment between two words. */
const asPattern = (words) => `\\b(${words.replaceAll(' ', String.raw`[\s*/]+`)})\\b`;
const rules = WORDS.map(({ words, instead }) => ({ pattern: new RegExp(asPattern(words), 'gi'), instead }));
const openings = OPENINGS.map(({ words, instead }) => ({ pattern: new RegExp(`^(${words})\\b`), instead }));

/** Replaces text in backticks with spaces, which preserves positions. */
const withoutCode = (text) => text.replaceAll(/`[^`]*`/g, (code) => code.replaceAll(/[^\n]/g, ' '));

/** Comments, and titles of tests: `{ start, text, isDocstring }`. */
function textsOf(source, name) {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true);
  const texts = new Map();
  const add = ({ pos, end }) => {
    const text = source.slice(pos, end);
    texts.set(pos, { start: pos, text, isDocstring: text.startsWith('/**') });
  };
  function addComments(node) {
    for (const comment of ts.getLeadingCommentRanges(source, node.pos) ?? []) add(comment);
    for (const comment of ts.getTrailingCommentRanges(source, node.end) ?? []) add(comment);
    // Creating the tokens of a node is slow, so nodes that cannot contain a comment are skipped.
    if (COMMENT_START.test(source.slice(node.pos, node.end))) node.getChildren(file).forEach(addComments);
  }
  function addTitles(node) {
    if (ts.isCallExpression(node) && TITLED.test(node.expression.getText(file))) {
      const [title] = node.arguments;
      if (title && ts.isStringLiteralLike(title)) add({ pos: title.getStart(file), end: title.end });
    }
    ts.forEachChild(node, addTitles);
  }
  addComments(file);
  if (name.startsWith('tests/')) addTitles(file);
  return [...texts.values()];
}

/** The scripts of a component; its other lines are blanked. */
function scriptsOf(source) {
  const kept = [...source.matchAll(/(<script[^>]*>)([\s\S]*?)<\/script>/g)];
  let result = '';
  for (const match of kept) {
    const start = match.index + match[1].length;
    result += source.slice(result.length, start).replaceAll(/[^\n]/g, ' ') + match[2];
  }
  return result;
}

/** A document with its code blocks blanked. */
const proseOf = (source) => source.replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, ' '));

function textsOfFile(name) {
  const source = readFileSync(name, 'utf8');
  if (name.endsWith('.md')) return { source, texts: [{ start: 0, text: proseOf(source), isDocstring: false }] };
  if (name.endsWith('.vue')) return { source, texts: textsOf(scriptsOf(source), name) };
  return { source, texts: textsOf(source, name) };
}

let findings = 0;
function report(name, source, position, word, instead) {
  const line = source.slice(0, position).split('\n').length;
  console.log(`${name}:${line}: "${word}": ${instead}`);
  findings += 1;
}

const wanted = process.argv.slice(2);
const names = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...wanted], { encoding: 'utf8' })
  .split('\n')
  .filter((name) => (SOURCE.test(name) || /\.(vue|md)$/.test(name)) && !SKIPPED.test(name));

for (const name of names) {
  const { source, texts } = textsOfFile(name);
  for (const { start, text, isDocstring } of texts) {
    const prose = withoutCode(text);
    for (const { pattern, instead } of rules) {
      for (const { 0: word, index } of prose.matchAll(pattern)) {
        if (!EXCEPTIONS[word.toLowerCase()]?.includes(name)) report(name, source, start + index, word, instead);
      }
    }
    if (!isDocstring) continue;
    const skipped = /^\/\*\*[\s*]*/.exec(prose)[0].length;
    for (const { pattern, instead } of openings) {
      const word = pattern.exec(prose.slice(skipped))?.[0];
      if (word) report(name, source, start + skipped, word, instead);
    }
  }
}
if (findings > 0) console.log(`\n${findings} findings`);
process.exit(findings > 0 ? 1 : 0);
