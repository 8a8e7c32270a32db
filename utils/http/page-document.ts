/** Adapts the built `index.html` to the path at which a browser has the page. */
import { createHash } from 'node:crypto';

/** Attributes with the relative addresses that the build writes. */
const RELATIVE = /\b(src|href)="\.\//g;
const HEAD_END = '</head>';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escapeAttribute = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/**
 * Makes relative addresses absolute, because the page is also served at deeper paths, and declares `base` for the page's
 * own requests.
 */
export function pageDocument(html: string, base: string): string {
  const escaped = escapeAttribute(base);
  // Functions, because `$` has a meaning in replacement texts.
  return html
    .replace(RELATIVE, (_match, attribute: string) => `${attribute}="${escaped}`)
    .replace(HEAD_END, () => `  <meta name="service-base" content="${escaped}" />\n  ${HEAD_END}`);
}

/** Value of an entity tag, without quotes. */
export const contentTag = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('base64url');
