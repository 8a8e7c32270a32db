import { createParser } from 'eventsource-parser';

/** Of one event, in characters. */
const MAX_EVENT_LENGTH = 32 * 1024 * 1024;

/** Gives the data of the server-sent events in `body` in order. Throws what `onData` and the body throw. */
export async function readEvents(body: AsyncIterable<Uint8Array>, onData: (data: string) => void): Promise<void> {
  const parser = createParser({
    onEvent: ({ data }) => onData(data),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw error;
    },
    maxBufferSize: MAX_EVENT_LENGTH,
  });
  const decoder = new TextDecoder();
  for await (const piece of body) parser.feed(decoder.decode(piece, { stream: true }));
}
