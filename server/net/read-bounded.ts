/** Reads the body of an untrusted response up to a size limit. */

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** Smaller chunks are joined: each of them occupies far more memory than its bytes. */
const SMALL_BYTES = 4096;
const BLOCK_BYTES = 64 * 1024;

/** The whole decoded body, in a buffer that is not shared. Throws `BodyTooLarge` and errors of the body. */
export async function readBounded({ body, headers }: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => new BodyTooLarge(`the answer is larger than ${maxBytes} bytes`);
  if (Number(headers.get('content-length')) > maxBytes) {
    await body?.cancel();
    throw tooLarge();
  }
  // Large chunks are not copied before the end: their copies would be garbage of the same size.
  const parts: Uint8Array[] = [];
  let block = new Uint8Array(0);
  let used = 0;
  let size = 0;
  const endBlock = () => {
    if (used > 0) parts.push(block.subarray(0, used));
    block = block.subarray(used);
    used = 0;
  };
  // Leaving the loop cancels the body.
  for await (const piece of body ?? []) {
    size += piece.byteLength;
    if (size > maxBytes) throw tooLarge();
    if (piece.byteLength >= SMALL_BYTES) {
      endBlock();
      parts.push(piece);
      continue;
    }
    if (used + piece.byteLength > block.byteLength) {
      endBlock();
      block = new Uint8Array(BLOCK_BYTES);
    }
    block.set(piece, used);
    used += piece.byteLength;
  }
  endBlock();
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
