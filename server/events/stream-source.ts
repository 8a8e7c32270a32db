/** Event streams as the gateway reads them. */
import type { StreamPosition } from './frame.ts';

/** Reads event streams: those of sessions, or the stream `__global__`. */
export interface StreamSource {
  /** Whether the stream belongs to an existing session: loaded, cold or archived. */
  exists(sessionId: string): Promise<boolean>;
  /** Returns the stream's watermark. Loads a session only if a crash left its turn open, which is recovered first. */
  position(sessionId: string): Promise<StreamPosition>;
  /** The watermark if this process has the stream open, else undefined. All events up to it are published already. */
  livePosition(sessionId: string): StreamPosition | undefined;
  /** Texts of the durable frames `after + 1 … upTo`, byte for byte as they were first sent. */
  replay(sessionId: string, after: number, upTo: number): AsyncIterable<string>;
}
