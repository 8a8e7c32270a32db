/** The identity of this tab. */
import { shallowRef } from 'vue';
import type { EventFrame, TranscriptCaller } from '@service-code/client';
import { textOf, type Message } from '../messages/messages.ts';
import { changeElsewhereText, otherCallerText } from '../state/other-caller.ts';
import { scopedName } from './page-root.ts';

/** Never displayed or shared: a program that has it could impersonate the page. */
function secretId(): string {
  const key = scopedName('client-id');
  const known = sessionStorage.getItem(key);
  if (known !== null) return known;
  // `randomUUID` is missing on plain HTTP addresses other than loopback.
  const id = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  sessionStorage.setItem(key, id);
  return id;
}

/** The id that the server records this tab with. */
const publicId = shallowRef<string>();

export const caller = {
  name: 'service-code-web',
  id: secretId(),
  onPublicId: (id: string) => void (publicId.value = id),
};

const textIfAny = (text: Message | undefined) => text && textOf(text);

/** See `otherCallerText`. */
export const otherCaller = (by: TranscriptCaller | undefined) => textIfAny(otherCallerText(by, publicId.value));

/** See `changeElsewhereText`. */
export const changeElsewhere = (frame: EventFrame) => textIfAny(changeElsewhereText(frame, publicId.value));
