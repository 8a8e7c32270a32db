/**
 * Source of the worker thread that extracts the text of a page. It is a string, since the built server is one bundle
 * without a file for it. The plain text is sent first, from one walk over the page; then the main part, if the page is
 * shallow enough: finding it takes time quadratic in the depth.
 */
export const EXTRACTION_PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { bytes, encoding, files, limits } = workerData;
const { parseHTML } = require(files.linkedom);

const words = (text) => new Set(text.split(' '));
const SKIPPED = words('head script style noscript template svg iframe object canvas select textarea');
const APART = words('p h1 h2 h3 h4 h5 h6 pre ul ol dl table blockquote section article main header footer nav aside figure hr');
const BELOW = words('div li tr dt dd br form fieldset figcaption address details summary caption option');
const ELEMENT = 1;
const TEXT = 3;
const GAPS = ['', ' ', '\\n', '\\n\\n'];

/** Calls enter for every node in order, leave for elements after their children; without recursion, because pages may nest deeply. */
function walk(root, enter, leave) {
  let node = root;
  for (;;) {
    const inside = enter(node) ? node.firstChild : null;
    if (inside) {
      node = inside;
      continue;
    }
    for (;;) {
      leave(node);
      if (node === root) return;
      if (node.nextSibling) break;
      node = node.parentNode;
    }
    node = node.nextSibling;
  }
}

function textOf(root) {
  let text = '';
  let gap = 0;
  let mark = '';
  let verbatim = 0;
  const say = (words) => {
    text += (text === '' ? '' : GAPS[gap]) + mark + words;
    gap = 0;
    mark = '';
  };
  const gapOf = (name) => (APART.has(name) ? 3 : BELOW.has(name) ? 2 : 0);
  walk(
    root,
    (node) => {
      if (text.length > limits.output) return false;
      if (node.nodeType === TEXT) {
        const { data } = node;
        if (verbatim > 0) {
          if (data !== '') say(data);
          return false;
        }
        const words = data.replace(/\\s+/g, ' ');
        if (words.startsWith(' ')) gap = Math.max(gap, 1);
        const trimmed = words.trim();
        if (trimmed !== '') say(trimmed);
        if (words.endsWith(' ')) gap = Math.max(gap, 1);
        return false;
      }
      const name = node.localName;
      if (node.nodeType !== ELEMENT || (SKIPPED.has(name) && node !== root)) return false;
      gap = Math.max(gap, gapOf(name));
      if (/^h[1-6]$/.test(name)) mark = '#'.repeat(Number(name[1])) + ' ';
      else if (name === 'li') mark = '- ';
      else if ((name === 'td' || name === 'th') && node.previousElementSibling) {
        gap = Math.max(gap, 1);
        mark = '| ';
      }
      if (name === 'pre') verbatim += 1;
      return true;
    },
    (node) => {
      if (node.nodeType !== ELEMENT || SKIPPED.has(node.localName)) return;
      if (node.localName === 'pre') verbatim -= 1;
      gap = Math.max(gap, gapOf(node.localName));
    },
  );
  return text.trim();
}

function isShallow(root) {
  let elements = 0;
  let depth = 0;
  let deepest = 0;
  walk(
    root,
    (node) => {
      if (node.nodeType === ELEMENT) elements += 1;
      depth += 1;
      if (depth > deepest) deepest = depth;
      return elements <= limits.elements && deepest <= limits.depth;
    },
    () => (depth -= 1),
  );
  return elements <= limits.elements && deepest <= limits.depth;
}

/** Returns the main element. A single article is the main content; several are a list. */
function mainOf(document) {
  const articles = document.querySelectorAll('article');
  return (articles.length === 1 && articles[0]) || document.querySelector('main, [role=main]') || document.querySelector('body');
}

const oneLine = (text) => (text || '').replace(/\\s+/g, ' ').trim().slice(0, limits.title);

const html = new TextDecoder(encoding).decode(bytes).slice(0, limits.html);
const { document } = parseHTML(
  /<html[\\s>]/i.test(html) ? html : '<!doctype html><html><head></head><body>' + html + '</body></html>',
);
const root = document.documentElement;
if (!root) parentPort.postMessage({ title: '', text: '' });
else {
  const title = oneLine(document.querySelector('title')?.textContent);
  const main = mainOf(document);
  parentPort.postMessage({ title, text: (main && textOf(main)) || textOf(root) });
  if (isShallow(root)) {
    const { Readability } = require(files.readability);
    try {
      const found = new Readability(document, { serializer: (element) => element, disableJSONLD: true }).parse();
      const text = found ? textOf(found.content) : '';
      if (text !== '') parentPort.postMessage({ title: oneLine(found.title) || title, text });
    } catch {
      // Extraction fails for some pages; the plain text that was sent before is used then.
    }
  }
}
`;
