/**
 * Program of the thread that extracts the text of a page. The plain text is sent first, from one walk over the page;
 * then the main part, if the page is shallow enough: finding it takes time quadratic in the depth.
 */
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { sendMessage, serveRequests } from '#server/threads/serve-requests.ts';
import type { ExtractedText, ExtractionLimits, ExtractionRequest } from './extraction-messages.ts';

const words = (text: string) => new Set(text.split(' '));
const SKIPPED = words('head script style noscript template svg iframe object canvas select textarea');
const APART = words(
  'p h1 h2 h3 h4 h5 h6 pre ul ol dl table blockquote section article main header footer nav aside figure hr',
);
const BELOW = words('div li tr dt dd br form fieldset figcaption address details summary caption option');
const ELEMENT = 1;
const TEXT = 3;
/** The separators of two texts, by the width of the gap. */
const GAPS = ['', ' ', '\n', '\n\n'];

/** The members of the DOM that are used; the types of browsers are not part of the server's. */
interface PageNode {
  readonly nodeType: number;
  readonly nodeValue: string | null;
  readonly textContent: string | null;
  readonly parentNode: PageNode | null;
  readonly firstChild: PageNode | null;
  readonly nextSibling: PageNode | null;
}

interface PageElement extends PageNode {
  readonly localName: string;
  readonly previousElementSibling: PageElement | null;
}

interface PageDocument {
  readonly documentElement: PageElement | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): ArrayLike<PageElement>;
}

const isElement = (node: PageNode): node is PageElement => node.nodeType === ELEMENT;

/**
 * Calls `enter` for every node in order, and `leave` after its children; without recursion, because pages may nest
 * deeply. The children of a node for which `enter` returns false are omitted.
 */
function walk(root: PageNode, enter: (node: PageNode) => boolean, leave: (node: PageNode) => void): void {
  let node: PageNode | null = root;
  while (node) {
    const child: PageNode | null = enter(node) ? node.firstChild : null;
    if (child) {
      node = child;
      continue;
    }
    while (node) {
      leave(node);
      if (node === root) return;
      if (node.nextSibling) break;
      node = node.parentNode;
    }
    node = node?.nextSibling ?? null;
  }
}

const gapOf = (name: string) => (APART.has(name) ? 3 : BELOW.has(name) ? 2 : 0);

function textOf(root: PageNode, maxChars: number): string {
  let text = '';
  let gap = 0;
  let mark = '';
  let verbatim = 0;

  const widen = (width: number) => (gap = Math.max(gap, width));

  function append(part: string): void {
    text += (text === '' ? '' : GAPS[gap]) + mark + part;
    gap = 0;
    mark = '';
  }

  function appendText(data: string): void {
    if (verbatim > 0) {
      if (data !== '') append(data);
      return;
    }
    const spaced = data.replace(/\s+/g, ' ');
    if (spaced.startsWith(' ')) widen(1);
    const trimmed = spaced.trim();
    if (trimmed !== '') append(trimmed);
    if (spaced.endsWith(' ')) widen(1);
  }

  function enterElement(element: PageElement): void {
    const name = element.localName;
    widen(gapOf(name));
    if (/^h[1-6]$/.test(name)) mark = `${'#'.repeat(Number(name[1]))} `;
    else if (name === 'li') mark = '- ';
    else if ((name === 'td' || name === 'th') && element.previousElementSibling) {
      widen(1);
      mark = '| ';
    }
    if (name === 'pre') verbatim += 1;
  }

  walk(
    root,
    (node) => {
      if (text.length > maxChars) return false;
      if (node.nodeType === TEXT) appendText(node.nodeValue ?? '');
      if (!isElement(node) || (SKIPPED.has(node.localName) && node !== root)) return false;
      enterElement(node);
      return true;
    },
    (node) => {
      if (!isElement(node) || SKIPPED.has(node.localName)) return;
      if (node.localName === 'pre') verbatim -= 1;
      widen(gapOf(node.localName));
    },
  );
  return text.trim();
}

function isShallow(root: PageNode, limits: ExtractionLimits): boolean {
  let elements = 0;
  let depth = 0;
  let deepest = 0;
  const isWithin = () => elements <= limits.elements && deepest <= limits.depth;
  walk(
    root,
    (node) => {
      if (isElement(node)) elements += 1;
      depth += 1;
      deepest = Math.max(deepest, depth);
      return isWithin();
    },
    () => (depth -= 1),
  );
  return isWithin();
}

/** Returns the main element. A single article is the main content; several are a list. */
function mainOf(document: PageDocument): PageElement | null {
  const articles = document.querySelectorAll('article');
  const [article] = Array.from(articles);
  if (article && articles.length === 1) return article;
  return document.querySelector('main, [role=main]') ?? document.querySelector('body');
}

/** Sends the plain text as a message, and returns the main part, or the plain text if none is found. */
function extract({ bytes, encoding, limits }: ExtractionRequest): ExtractedText {
  const oneLine = (text: string | null | undefined) => (text ?? '').replace(/\s+/g, ' ').trim().slice(0, limits.title);
  const html = new TextDecoder(encoding).decode(bytes).slice(0, limits.html);
  const isDocument = /<html[\s>]/i.test(html);
  const { document }: { document: PageDocument } = parseHTML(
    isDocument ? html : `<!doctype html><html><head></head><body>${html}</body></html>`,
  );
  const root = document.documentElement;
  if (!root) return { title: '', text: '' };
  const title = oneLine(document.querySelector('title')?.textContent);
  const main = mainOf(document);
  const plain = { title, text: (main && textOf(main, limits.output)) || textOf(root, limits.output) };
  sendMessage(plain);
  if (!isShallow(root, limits)) return plain;
  try {
    const options = { serializer: (node: PageNode) => node, disableJSONLD: true };
    const found = new Readability(document, options).parse();
    const text = found?.content ? textOf(found.content, limits.output) : '';
    return text === '' ? plain : { title: oneLine(found?.title) || title, text };
  } catch {
    // It fails for some pages.
    return plain;
  }
}

serveRequests<ExtractionRequest>({ answer: extract });
