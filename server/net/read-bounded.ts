/** Reads the body of an untrusted response up to a size limit. */

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

const FIRST_BYTES = 16 * 1024;

/** The whole decoded body, in a buffer that is not shared. Throws `BodyTooLarge` and errors of the body. */
export async function readBounded({ body }: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  // One growing buffer instead of a list of chunks, which may have one byte each.
  let held = new Uint8Array(FIRST_BYTES);
  let size = 0;
  // Leaving the loop cancels the body.
  for await (const piece of body ?? []) {
    if (size + piece.byteLength > maxBytes) throw new BodyTooLarge(`the answer is larger than ${maxBytes} bytes`);
    if (size + piece.byteLength > held.byteLength) {
      const larger = new Uint8Array(Math.max(2 * held.byteLength, size + piece.byteLength));
      larger.set(held.subarray(0, size));
      held = larger;
    }
    held.set(piece, size);
    size += piece.byteLength;
  }
  return held.slice(0, size);
}
