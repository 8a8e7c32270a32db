/** The identity of this tab. */
import { shallowRef } from 'vue';
import type { TranscriptCaller } from '#schema/rest/caller.ts';
import type { EventFrame } from '../client/types.ts';
import { changeElsewhereText, otherCallerText } from '../state/other-caller.ts';

const KEY = 'service-code.client-id';

/** Never displayed or shared: a program that has it could impersonate the page. */
function secretId(): string {
  const known = sessionStorage.getItem(KEY);
  if (known !== null) return known;
  // `randomUUID` is missing on plain HTTP addresses other than loopback.
  const id = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  sessionStorage.setItem(KEY, id);
  return id;
}

/** The id that the server records this tab with. */
const publicId = shallowRef<string>();

export const caller = {
  name: 'service-code-web',
  id: secretId(),
  onPublicId: (id: string) => void (publicId.value = id),
};

/** See `otherCallerText`. */
export const otherCaller = (by: TranscriptCaller | undefined) => otherCallerText(by, publicId.value);

/** See `changeElsewhereText`. */
export const changeElsewhere = (frame: EventFrame) => changeElsewhereText(frame, publicId.value);
