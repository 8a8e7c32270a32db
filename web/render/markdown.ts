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
import MarkdownIt from 'markdown-it';

/** Longer code is shown plain: highlighting it would hold up the page. */
const HIGHLIGHT_LIMIT = 100_000;

const languages = { bash, c, cpp, css, diff, go, java, json, markdown, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['javascript', 'js', 'jsx', 'ts', 'tsx', 'mjs', 'cjs', 'vue'], { languageName: 'typescript' });
hljs.registerAliases(['shell', 'sh', 'zsh', 'console'], { languageName: 'bash' });
hljs.registerAliases(['toml'], { languageName: 'yaml' });

const md = new MarkdownIt({ html: false, linkify: true, highlight: highlightOrEscape });
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

// An image would be fetched from wherever the model says: show where it points instead.
md.renderer.rules.image = (tokens, index) => {
  const token = tokens[index];
  const href = String(token?.attrGet('src') ?? '');
  return `<a href="${escapeHtml(href)}">${escapeHtml(token?.content || href)}</a>`;
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
