/** Model text to safe HTML: Markdown without raw HTML, highlighted code, nothing loaded from other origins. */
import DOMPurify from 'dompurify';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import MarkdownIt, { type Token } from 'markdown-it';
import { linkTarget, namesTarget } from './link-target.ts';

/** Longer code is shown plain: highlighting it would hold up the page. */
const HIGHLIGHT_LIMIT = 100_000;

const languages = { bash, c, cpp, css, diff, go, java, json, markdown, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['javascript', 'js', 'jsx', 'ts', 'tsx', 'mjs', 'cjs', 'vue'], { languageName: 'typescript' });
hljs.registerAliases(['shell', 'sh', 'zsh', 'console'], { languageName: 'bash' });
hljs.registerAliases(['toml'], { languageName: 'yaml' });

const md = new MarkdownIt({ html: false, linkify: true, highlight: highlightOrEscape });
// Without it `README.md` and `main.rs` would lead to hosts of Moldova and Serbia.
md.linkify.set({ fuzzyLink: false });
const { escapeHtml } = md.utils;

/** HTML of code in a language, by its name or a file's extension; escaped text when the language is not known. */
export function highlightOrEscape(code: string, language: string): string {
  if (!hljs.getLanguage(language) || code.length > HIGHLIGHT_LIMIT) return escapeHtml(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

const fence = md.renderer.rules.fence;
md.renderer.rules.fence = (tokens, index, options, env, self) => {
  const language = tokens[index]?.info.trim().split(/\s+/)[0] ?? '';
  const body = fence?.(tokens, index, options, env, self) ?? '';
  const bar = `<div class="code-bar"><span>${escapeHtml(language)}</span><button type="button" data-copy>Copy</button></div>`;
  return `<div class="code">${bar}${body}</div>`;
};

const attribute = (token: Token | undefined, name: string) => String(token?.attrGet(name) ?? '');

const opening = (href: string) =>
  linkTarget(href, location.href).opens ? `<a href="${escapeHtml(href)}">` : '<span class="label">';

/** The end of a link: its target is visible where the label does not name it. */
function closing(href: string, label: string): string {
  const { opens, shown } = linkTarget(href, location.href);
  const target = namesTarget(label, href) ? '' : ` <span class="target">(${escapeHtml(shown)})</span>`;
  return `${opens ? '</a>' : '</span>'}${target}`;
}

md.renderer.rules.link_open = (tokens, at) => opening(attribute(tokens[at], 'href'));
md.renderer.rules.link_close = (tokens, at) => {
  const start = tokens.findLastIndex(({ type }, before) => before < at && type === 'link_open');
  const label = tokens.slice(start + 1, at).map(({ content }) => content);
  return closing(attribute(tokens[start], 'href'), label.join(''));
};

// An image would be fetched from wherever the model says: show where it points instead.
md.renderer.rules.image = (tokens, at) => {
  const href = attribute(tokens[at], 'src');
  const label = tokens[at]?.content || href;
  return `${opening(href)}${escapeHtml(label)}${closing(href, label)}`;
};

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
});

/** Safe HTML of Markdown text. */
export function renderMarkdown(text: string): string {
  return DOMPurify.sanitize(md.render(text), {
    ADD_ATTR: ['target', 'data-copy'],
    FORBID_TAGS: ['style', 'form', 'img'],
  });
}
