/** Scales the images of a result down to the models' limit; the session stores the originals. */
import { parseDataUrl } from '#server/files/data-url.ts';
import type { Images } from '#server/images/images.ts';
import { caption, keepOriginal } from '#server/images/originals.ts';
import type { ToolResult } from '#server/tools/tool.ts';
import type { Part } from '#schema/engine.ts';

/** Returns the result unmodified if every image is small enough; else its note describes the scaling to the model. */
export async function withSmallImages(
  result: ToolResult,
  images: Pick<Images, 'fit'>,
  sessionDir: string,
): Promise<ToolResult> {
  if (typeof result.output === 'string') return result;
  const output: Part[] = [];
  const captions: string[] = [];
  for (const part of result.output) {
    const inline = part.type === 'image_url' ? parseDataUrl(part.imageUrl.url) : undefined;
    const fitted = inline && (await images.fit(async () => Buffer.from(inline.data, 'base64')));
    if (!fitted?.smaller) {
      output.push(part);
      continue;
    }
    const { data, type } = fitted.smaller;
    output.push({ type: 'image_url', imageUrl: { url: `data:${type};base64,${data.toString('base64')}` } });
    captions.push(caption(fitted, await keepOriginal(sessionDir, fitted.original)));
  }
  if (captions.length === 0) return result;
  return { ...result, output, note: `<system>${captions.join('\n')}</system>` };
}
