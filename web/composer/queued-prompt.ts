/** The texts of a queued prompt. */
import type { TranscriptPrompt } from '@service-code/client';
import { t } from '../messages/messages.ts';

/** The text that a person typed; other parts are omitted. */
export const queuedWords = ({ content = [] }: TranscriptPrompt): string =>
  content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n\n');

export const hasMedia = ({ content = [] }: TranscriptPrompt): boolean => content.some(({ type }) => type !== 'text');

/** One line; parts other than text are named. */
export const queuedText = ({ content = [] }: TranscriptPrompt): string =>
  content.map((part) => (part.type === 'text' ? part.text : t('queue.part', { type: part.type }))).join(' ');
