/** Converts a server's result of a call into the output that models receive. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { cutText } from '#server/text/truncate.ts';
import { acceptedImageTypes, SIGNATURE_BYTES, sniffImage, unsupportedImageUrl } from '#server/files/media-types.ts';
import type { ToolResult } from '#server/tools/tool.ts';
import type { Part, ToolOutput } from '#schema/engine.ts';

export const RESULT_MAX_CHARS = 100_000;
export const MEDIA_MAX_BYTES = 10 * 1024 * 1024;

type Content = CallToolResult['content'][number];
type MediaKind = 'image' | 'audio' | 'video';

const MEDIA_TYPE = /^(image|audio|video)\/[\w.+-]+$/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const DEFAULT_TYPES = { image: 'image/png', audio: 'audio/mpeg' };

/** Converts the result of the tool with this name. */
export function toolResultOf(name: string, { content, structuredContent, _meta, isError }: CallToolResult): ToolResult {
  const parts = content.flatMap(partsOf);
  const structured = structuredText(structuredContent, _meta);
  if (structured !== undefined) parts.push(text(structured));
  return { output: outputOf(name, bounded(joined(parts))), ...(isError ? { isError: true } : {}) };
}

const text = (value: string): Part => ({ type: 'text', text: value });

function partsOf(content: Content): Part[] {
  switch (content.type) {
    case 'text':
      return [text(content.text)];
    case 'image':
    case 'audio':
      return [mediaPart(content.type, content.mimeType, content.data)];
    case 'resource': {
      const { resource } = content;
      if ('text' in resource) return [text(resource.text)];
      const kind = mediaKind(resource.mimeType);
      return kind ? [mediaPart(kind, resource.mimeType, resource.blob)] : [];
    }
    case 'resource_link': {
      const kind = mediaKind(content.mimeType);
      return kind && isWebUrl(content.uri) ? [linkPart(kind, content.mimeType, content.uri)] : [];
    }
    default:
      return [];
  }
}

function mediaKind(type: string | undefined): MediaKind | undefined {
  const kind = MEDIA_TYPE.exec(type ?? '')?.[1]?.toLowerCase();
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : undefined;
}

/** An address of another scheme would name files of this machine. */
function isWebUrl(address: string): boolean {
  const { protocol } = URL.canParse(address) ? new URL(address) : { protocol: '' };
  return protocol === 'http:' || protocol === 'https:';
}

function mediaPart(kind: MediaKind, declared: string | undefined, data: string): Part {
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > MEDIA_MAX_BYTES) return text(`[${kind} left out: it is larger than ${MEDIA_MAX_BYTES} bytes]`);
  const base64 = BASE64.test(data) ? data : Buffer.from(data, 'base64').toString('base64');
  if (kind === 'image') {
    // Providers identify an image by its bytes, so the declared type is ignored.
    const type = sniffImage(Buffer.from(base64.slice(0, 4 * SIGNATURE_BYTES), 'base64'));
    return type ? urlPart(kind, `data:${type};base64,${base64}`) : unsupported(declared ?? DEFAULT_TYPES.image);
  }
  const type = mediaKind(declared) === kind && declared ? declared : DEFAULT_TYPES.audio;
  return urlPart(kind, `data:${type};base64,${base64}`);
}

function linkPart(kind: MediaKind, declared: string | undefined, url: string): Part {
  if (kind !== 'image') return urlPart(kind, url);
  const named = declared !== undefined && !acceptedImageTypes.has(declared.toLowerCase()) ? declared : undefined;
  const type = named ?? unsupportedImageUrl(url);
  return type === undefined ? urlPart(kind, url) : unsupported(type);
}

const unsupported = (type: string) => text(`[image left out: models take no ${cutText(type, 100)}]`);

function urlPart(kind: MediaKind, url: string): Part {
  if (kind === 'image') return { type: 'image_url', imageUrl: { url } };
  if (kind === 'audio') return { type: 'audio_url', audioUrl: { url } };
  return { type: 'video_url', videoUrl: { url } };
}

/** Undefined if the result has only content. */
function structuredText(structuredContent: unknown, meta: Record<string, unknown> = {}): string | undefined {
  const own = Object.entries(meta).filter(([key]) => !isReserved(key));
  const shown = {
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(own.length > 0 ? { _meta: Object.fromEntries(own) } : {}),
  };
  if (Object.keys(shown).length === 0) return undefined;
  return `<mcp-structured-result>\n${JSON.stringify(shown)}\n</mcp-structured-result>`;
}

/** Whether the protocol reserves the key: `io.modelcontextprotocol/…`, `dev.mcp/…`. */
function isReserved(key: string): boolean {
  if (key === 'progressToken') return true;
  const slash = key.indexOf('/');
  const labels = slash === -1 ? [] : key.slice(0, slash).split('.');
  return labels.includes('modelcontextprotocol') || labels.includes('mcp');
}

/** Merges adjacent texts into one, separated by line breaks. */
function joined(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (part.type === 'text' && last?.type === 'text') result[result.length - 1] = text(`${last.text}\n${part.text}`);
    else result.push(part);
  }
  return result;
}

/** Limits all texts together to `RESULT_MAX_CHARS` and adds a notice at the cut. */
function bounded(parts: readonly Part[]): Part[] {
  let room = RESULT_MAX_CHARS;
  let cut = false;
  return parts.flatMap((part) => {
    if (part.type !== 'text') return [part];
    if (cut) return [];
    if (part.text.length <= room) {
      room -= part.text.length;
      return [part];
    }
    cut = true;
    return [text(`${cutText(part.text, room)}\n[The result was cut to ${RESULT_MAX_CHARS} characters.]`)];
  });
}

function outputOf(name: string, parts: Part[]): ToolOutput {
  const [only] = parts;
  if (!only) return '';
  if (parts.length === 1 && only.type === 'text') return only.text;
  if (parts.some((part) => part.type === 'text')) return parts;
  return [text(`<mcp_tool_result name="${name}">`), ...parts, text('</mcp_tool_result>')];
}
