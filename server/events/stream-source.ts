/** What the gateway needs from those who keep event streams. */
import type { StreamPosition } from './frame.ts';

/** Reads event streams: the sessions' ones, or the stream `__global__`. */
export interface StreamSource {
  /** Whether the stream belongs to a known session, live, cold or archived. */
  exists(sessionId: string): Promise<boolean>;
  /** The stream's watermark; settles a session whose turn a crash left open first. Loads nothing otherwise. */
  position(sessionId: string): Promise<StreamPosition>;
  /** The watermark when this process holds the stream open. Every event up to it is published already. */
  livePosition(sessionId: string): StreamPosition | undefined;
  /** Texts of the durable frames `after + 1 … upTo`, byte for byte as they were first sent. */
  replay(sessionId: string, after: number, upTo: number): AsyncIterable<string>;
}
