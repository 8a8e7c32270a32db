import { createParser } from 'eventsource-parser';

/** Upper limit of one event, in characters. */
const MAX_EVENT_LENGTH = 32 * 1024 * 1024;

/** Parses server-sent events and passes their data to `onData` in order. Throws what `onData` and the body throw. */
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
