/** One stream of a tunnel, as a `Duplex` with credit in both directions. */
import { Duplex } from 'node:stream';
import type { Clock } from '#server/clock.ts';
import {
  dataFrame,
  encodeEnd,
  HEADER_BYTES,
  MAX_DATA_BYTES,
  ProtocolError,
  type OpenFacts,
  type Reset,
} from './frames.ts';

/** Time that the other end has to end its direction of a stream which this end is finished with. */
const LINGER_MS = 10_000;
/** Smaller chunks are joined: each of them occupies far more memory than its bytes. */
const SMALL_BYTES = 4096;
const BLOCK_BYTES = 16_384;
/** Codes of streams whose user has left or needs no more: no error of the stream. */
const ORDINARY: ReadonlySet<Reset['code']> = new Set(['cancel', 'done']);

/** The stream was reset, by the other end; or `destroy` resets it with this code. */
export class StreamReset extends Error {
  readonly code: Reset['code'];

  constructor({ code, message }: Reset) {
    super(message ?? `the stream was reset (${code})`);
    this.code = code;
  }
}

/** The tunnel's side of a stream. */
export interface StreamLink {
  readonly clock: Clock;
  /** Bytes that each direction may have in flight. */
  readonly window: number;
  /** Code of a RESET for a stream that is destroyed before its end. */
  readonly abortCode: 'local_error' | 'cancel';
  /** Whether bytes that came before an END stay readable after a RESET: a complete reply, at the relay's end. */
  readonly keepsReceived: boolean;
  /** The stream has a frame to send, if it has credit. */
  ready(stream: TunnelStream): void;
  grant(id: number, bytes: number): void;
  reset(id: number, reset: Reset): void;
  /** Both directions have ended. */
  finished(id: number): void;
  /** The stream's memory was released. */
  released(stream: TunnelStream): void;
}

export class TunnelStream extends Duplex {
  readonly id: number;
  readonly facts: OpenFacts;
  readonly #link: StreamLink;

  /** Chunks of the running write. */
  #sending: Buffer[] = [];
  #sendingBytes = 0;
  #written: (() => void) | undefined;
  /** Callback of `_final`: the END frame is to be sent. */
  #endSent: (() => void) | undefined;
  #sendCredit: number;
  #sentEnd = false;

  /** Received chunks that no `_read` has requested. */
  #received: Buffer[] = [];
  /** Block of the last received chunks, and how much of it is used. */
  #block: { bytes: Buffer; used: number } | undefined;
  #isReading = false;
  #receiveCredit: number;
  /** Bytes passed to the reader since the last grant. */
  #passed = 0;
  #receivedEnd = false;
  #cancelLinger: (() => void) | undefined;

  constructor(id: number, facts: OpenFacts, link: StreamLink) {
    // Without a read buffer, bytes that were passed on have been consumed at the next `_read`.
    super({ readableHighWaterMark: 0, writableHighWaterMark: MAX_DATA_BYTES });
    this.id = id;
    this.facts = facts;
    this.#link = link;
    this.#sendCredit = link.window;
    this.#receiveCredit = link.window;
    // A lost tunnel ends its streams, not the process.
    this.on('error', () => undefined);
  }

  // Frames of the other end.

  /** Throws `ProtocolError` for data beyond the credit or after END. */
  receiveData(data: Buffer): void {
    if (this.#receivedEnd) throw new ProtocolError(`DATA after END of stream ${this.id}`);
    if (data.length > this.#receiveCredit) throw new ProtocolError(`DATA beyond the credit of stream ${this.id}`);
    this.#receiveCredit -= data.length;
    if (this.#isReading) this.#pass(data);
    else this.#store(data);
  }

  /** Throws `ProtocolError` for a second END. */
  receiveEnd(): void {
    if (this.#receivedEnd) throw new ProtocolError(`a second END of stream ${this.id}`);
    this.#receivedEnd = true;
    if (this.#received.length === 0) this.push(null);
    this.#finishDirection();
  }

  /** Throws `ProtocolError` if the credit would exceed the window. */
  receiveWindow(bytes: number): void {
    if (this.#sendCredit + bytes > this.#link.window) {
      throw new ProtocolError(`WINDOW lifts the credit of stream ${this.id} above the window`);
    }
    this.#sendCredit += bytes;
    if (this.#sendingBytes > 0) this.#link.ready(this);
  }

  /** Ends both directions. */
  receiveReset(reset: Reset): void {
    const isReadable = this.#receivedEnd && this.#link.keepsReceived;
    this.#receivedEnd = true;
    this.#sentEnd = true;
    if (!isReadable) return void this.destroy(ORDINARY.has(reset.code) ? undefined : new StreamReset(reset));
    this.#dropSending();
    this.#link.finished(this.id);
    if (this.readableEnded) this.destroy();
    else this.once('end', () => this.destroy());
  }

  // Sending.

  /** The next DATA or END frame; undefined without data or credit. `sent` is to be called after it was sent. */
  takeFrame(): { frame: Buffer; sent(): void } | undefined {
    if (this.#sendingBytes > 0) return this.#takeData();
    if (!this.#endSent) return undefined;
    const done = this.#endSent;
    this.#endSent = undefined;
    this.#sentEnd = true;
    return {
      frame: encodeEnd(this.id),
      sent: () => {
        done();
        this.#finishDirection();
      },
    };
  }

  #takeData(): { frame: Buffer; sent(): void } | undefined {
    const size = Math.min(this.#sendingBytes, this.#sendCredit, MAX_DATA_BYTES);
    if (size === 0) return undefined;
    const frame = dataFrame(this.id, size);
    let filled = HEADER_BYTES;
    while (filled < frame.length) {
      const chunk = this.#sending[0];
      if (!chunk) break;
      const copied = chunk.copy(frame, filled);
      filled += copied;
      if (copied === chunk.length) this.#sending.shift();
      else this.#sending[0] = chunk.subarray(copied);
    }
    this.#sendCredit -= size;
    this.#sendingBytes -= size;
    const done = this.#sendingBytes === 0 ? this.#written : undefined;
    if (done) this.#written = undefined;
    return { frame, sent: () => done?.() };
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#send([chunk], callback);
  }

  override _writev(chunks: { chunk: Buffer }[], callback: () => void): void {
    this.#send(
      chunks.map(({ chunk }) => chunk),
      callback,
    );
  }

  #send(chunks: Buffer[], callback: () => void): void {
    // After a RESET the other end ignores the rest.
    if (this.#sentEnd) return callback();
    this.#sending = chunks;
    this.#sendingBytes = chunks.reduce((sum, { length }) => sum + length, 0);
    if (this.#sendingBytes === 0) return callback();
    this.#written = callback;
    this.#link.ready(this);
  }

  override _final(callback: () => void): void {
    if (this.#sentEnd) return callback();
    this.#endSent = callback;
    this.#link.ready(this);
  }

  #dropSending(): void {
    this.#sending = [];
    this.#sendingBytes = 0;
    const done = this.#written ?? this.#endSent;
    this.#written = undefined;
    this.#endSent = undefined;
    done?.();
  }

  // Reading.

  override _read(): void {
    this.#isReading = true;
    this.#grantConsumed();
    const chunk = this.#takeReceived();
    if (chunk) this.#pass(chunk);
  }

  #pass(chunk: Buffer): void {
    this.#isReading = false;
    this.#passed += chunk.length;
    this.push(chunk);
    if (this.#receivedEnd && this.#received.length === 0) this.push(null);
  }

  #grantConsumed(): void {
    const consumed = this.#passed - this.readableLength;
    if (consumed < this.#link.window / 2 || this.#receivedEnd) return;
    this.#passed -= consumed;
    this.#receiveCredit += consumed;
    this.#link.grant(this.id, consumed);
  }

  #store(data: Buffer): void {
    const block = this.#block;
    if (block && data.length <= block.bytes.length - block.used) {
      data.copy(block.bytes, block.used);
      block.used += data.length;
      return;
    }
    if (block) this.#received[this.#received.length - 1] = block.bytes.subarray(0, block.used);
    this.#block = undefined;
    if (data.length < SMALL_BYTES) {
      this.#block = { bytes: Buffer.allocUnsafeSlow(BLOCK_BYTES), used: data.length };
      data.copy(this.#block.bytes);
      this.#received.push(this.#block.bytes);
    } else this.#received.push(data);
  }

  #takeReceived(): Buffer | undefined {
    const chunk = this.#received.shift();
    const block = this.#block;
    if (!chunk || !block || this.#received.length > 0) return chunk;
    this.#block = undefined;
    return block.bytes.subarray(0, block.used);
  }

  // The end.

  #finishDirection(): void {
    if (!this.#sentEnd || !this.#receivedEnd) return;
    this.#link.finished(this.id);
    if (this.#cancelLinger) this.destroy();
  }

  /** Like that of `net.Socket`: ends the stream, then destroys it without waiting for its reader. */
  destroySoon(): void {
    this.end();
    if (this.writableFinished) this.#destroyAfterEnd();
    else this.once('finish', () => this.#destroyAfterEnd());
  }

  /** Gives the other end the time to end its direction. */
  #destroyAfterEnd(): void {
    if (this.#receivedEnd) this.destroy();
    else this.#cancelLinger ??= this.#link.clock.setTimeout(() => this.destroy(), LINGER_MS);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#cancelLinger?.();
    if (!this.#sentEnd || !this.#receivedEnd) this.#link.reset(this.id, this.#resetFor(error));
    this.#sentEnd = true;
    this.#receivedEnd = true;
    this.#received = [];
    this.#block = undefined;
    this.#sending = [];
    this.#sendingBytes = 0;
    this.#written = undefined;
    this.#endSent = undefined;
    this.#link.released(this);
    callback(error);
  }

  #resetFor(error: Error | null): Reset {
    if (error instanceof StreamReset) return { code: error.code };
    return { code: this.#sentEnd ? 'done' : this.#link.abortCode };
  }
}
