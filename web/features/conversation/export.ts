/** Saves a session as a zip archive on this device. */
import type { Rest } from '@service-code/client';

/** The browser reads the archive after the click. */
const KEPT_MS = 60_000;

export async function exportSession(rest: Pick<Rest, 'request'>, id: string): Promise<void> {
  const archive = await rest.request('POST /api/v1/sessions/{session_id}/export', { path: { session_id: id } });
  const url = URL.createObjectURL(archive);
  const link = document.createElement('a');
  [link.href, link.download] = [url, `service-session-${id}.zip`];
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
