/** The content blocks of an editor's prompt as content parts of the API. */
import { isAbsolute, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContentBlock, EmbeddedResource, ResourceLink } from '@agentclientprotocol/sdk';
import type { ContentPart } from '@service-code/client';
import { invalid } from './errors.ts';
import { fence } from './fence.ts';

/** Base64 characters of all images of a prompt: the API accepts bodies of 32 MiB, of which the text needs a part. */
const IMAGE_CHARS = 28 * 1024 * 1024;

/** Converts a prompt; `cwd` is the session's directory. Throws for audio, for too large images and for other binary data. */
export function contentOf(blocks: readonly ContentBlock[], cwd: string): ContentPart[] {
  let left = IMAGE_CHARS;
  const parts = blocks.map((block, index) => {
    const part = partOf(block, `prompt.${index}`, cwd);
    if (part.type === 'image' && part.source.kind === 'base64') left -= part.source.data.length;
    if (left < 0) throw invalid(`prompt.${index}`, 'the images of the prompt are too large');
    return part;
  });
  if (parts.length === 0) throw invalid('prompt', 'must not be empty');
  return parts;
}

function partOf(block: ContentBlock, member: string, cwd: string): ContentPart {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
      return image(block.mimeType, block.data, member);
    case 'audio':
      throw invalid(`${member}.type`, 'audio is not supported');
    case 'resource_link':
      return text(linkText(block, cwd));
    case 'resource':
      return embedded(block.resource, member);
  }
}

const text = (value: string): ContentPart => ({ type: 'text', text: value });

function image(media_type: string, data: string, member: string): ContentPart {
  if (data === '' || media_type === '') throw invalid(`${member}.data`, 'an image needs data and a media type');
  return { type: 'image', source: { kind: 'base64', media_type, data } };
}

function embedded(resource: EmbeddedResource['resource'], member: string): ContentPart {
  if ('text' in resource)
    return text(`\n${fence(resource.text, resource.uri.replaceAll(/[\s`]/g, encodeURIComponent))}\n`);
  const { mimeType } = resource;
  if (mimeType?.startsWith('image/')) return image(mimeType, resource.blob, `${member}.resource`);
  throw invalid(`${member}.resource`, `embedded data of type ${mimeType ?? 'unknown'} is not supported`);
}

/** A mention of a file, or the link as text. */
function linkText({ uri, name }: ResourceLink, cwd: string): string {
  const path = filePath(uri);
  if (path === undefined) return uri === name ? uri : `[${name}](${uri})`;
  const { hash } = new URL(uri);
  return `@${mentioned(path, cwd)}${hash === '' ? '' : ` (${hash.slice(1)})`}`;
}

/** The path of a `file:` link; undefined for other links, and for files of another machine. */
function filePath(uri: string): string | undefined {
  if (!/^file:/i.test(uri)) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

/** A path in the work directory is relative to it, any other absolute. */
function mentioned(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  if (inside === '') return './';
  return inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside) ? path : inside.replaceAll(sep, '/');
}
