/** Warnings about files of a session. */
import type { Rest } from '@service-code/client';
import type { Tone } from '../../state/rows.ts';

export interface Warning {
  tone: Tone;
  /** Contains the path of the file. */
  text: string;
}

/** The warnings of a session, except those about untrusted directories, which have a question of their own. */
export async function sessionWarnings(rest: Pick<Rest, 'request'>, sessionId: string): Promise<Warning[]> {
  const path = { session_id: sessionId };
  const { warnings } = await rest.request('GET /api/v1/sessions/{session_id}/warnings', { path });
  return warnings
    .filter(({ directory }) => directory === undefined)
    .map(({ severity, message: text }) => ({ tone: severity, text }));
}

/** Identifies a warning in the list of dismissed ones; contains no space. */
export const warningId = ({ text }: Warning): string => encodeURIComponent(text);
