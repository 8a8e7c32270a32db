/** Upload of videos to the native provider, whose requests refer to them by id. */
import * as z from 'zod';
import { parseJson } from '#server/text/json.ts';
import { toModelError } from '../errors.ts';
import type { ModelTransport } from '../model-transport.ts';
import type { VideoUpload } from '../types.ts';

const answerSchema = z.object({ id: z.string().min(1) });

/** Returns the provider's id of the video. Throws `ModelError`, or the signal's reason on abort. */
export async function uploadNativeVideo(
  transport: ModelTransport,
  { model, type, data, signal }: VideoUpload,
): Promise<string> {
  const { baseUrl = '' } = model;
  const exchange = transport.exchange(model, 'authorization');
  try {
    signal.throwIfAborted();
    const form = new FormData();
    form.set('purpose', 'video');
    // The local file name is not sent to the provider, for privacy.
    form.set('file', new Blob([new Uint8Array(data)], { type }), `video.${type.slice(type.indexOf('/') + 1)}`);
    const encoded = new Response(form);
    const answer = await exchange.fetch(`${baseUrl.replace(/\/+$/, '')}/files`, {
      method: 'POST',
      headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
      body: new Uint8Array(await encoded.arrayBuffer()),
      signal,
    });
    return answerSchema.parse(parseJson(await answer.text())).id;
  } catch (error) {
    signal.throwIfAborted();
    throw toModelError(error, exchange.result, true);
  }
}
