/** The images of a prompt, as files that can be attached again. */
import type { Rest, TranscriptAttachment } from '@service-code/client';

export interface PromptMedia {
  files: File[];
  /** Whether none is missing. */
  isComplete: boolean;
}

/** Reads them from the server. One that it does not store, or not any more, is missing. */
export async function readPromptMedia(
  rest: Pick<Rest, 'request'>,
  sessionId: string,
  attachments: readonly (TranscriptAttachment | undefined)[],
): Promise<PromptMedia> {
  async function read(attachment: TranscriptAttachment | undefined): Promise<File | undefined> {
    const { source, name = 'file' } = attachment ?? {};
    if (!source || source.kind === 'url') return undefined;
    const blob = await rest.request('GET /api/v1/sessions/{session_id}/media/{file_id}', {
      path: { session_id: sessionId, file_id: source.fileId },
    });
    return new File([blob], name, { type: blob.type });
  }

  const found = await Promise.all(attachments.map((attachment) => read(attachment).catch(() => undefined)));
  const files = found.filter((file) => file !== undefined);
  return { files, isComplete: files.length === attachments.length };
}
