/** Syntax highlighting. */
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

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

/** Longer code is drawn plain: highlighting it would block the page. */
const HIGHLIGHT_LIMIT = 100_000;

const languages = { bash, c, cpp, css, diff, go, java, json, markdown, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['javascript', 'js', 'jsx', 'ts', 'tsx', 'mjs', 'cjs', 'vue'], { languageName: 'typescript' });
hljs.registerAliases(['shell', 'sh', 'zsh', 'console'], { languageName: 'bash' });
hljs.registerAliases(['toml'], { languageName: 'yaml' });

/** HTML of code in a language, by its name or a file's extension; escaped text when the language is not registered. */
export function highlightOrEscape(code: string, language: string): string {
  if (!hljs.getLanguage(language) || code.length > HIGHLIGHT_LIMIT) return escapeHtml(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
