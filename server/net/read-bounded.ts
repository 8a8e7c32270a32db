/** Reads the body of an untrusted response up to a size limit. */

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

const FIRST_BYTES = 16 * 1024;
const BLOCK_BYTES = 1024 * 1024;

/** The whole decoded body, in a buffer that is not shared. Throws `BodyTooLarge` and errors of the body. */
export async function readBounded({ body }: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  // Blocks instead of a list of chunks, which may have one byte each, or of one buffer, whose copies are garbage.
  const full: Uint8Array[] = [];
  let block = new Uint8Array(FIRST_BYTES);
  let used = 0;
  let size = 0;
  // Leaving the loop cancels the body.
  for await (const piece of body ?? []) {
    size += piece.byteLength;
    if (size > maxBytes) throw new BodyTooLarge(`the answer is larger than ${maxBytes} bytes`);
    for (let from = 0; from < piece.byteLength;) {
      if (used === block.byteLength) {
        full.push(block);
        block = new Uint8Array(Math.min(2 * block.byteLength, BLOCK_BYTES));
        used = 0;
      }
      const part = piece.subarray(from, from + block.byteLength - used);
      block.set(part, used);
      used += part.byteLength;
      from += part.byteLength;
    }
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of [...full, block.subarray(0, used)]) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
