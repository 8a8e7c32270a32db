/** Uploads as browsers send them. */
import { uploadSchema, type Upload } from '#schema/rest/upload.ts';
import type { ServerClient } from './server-client.ts';

export interface UploadForm {
  content?: string | Uint8Array<ArrayBuffer>;
  filename?: string;
  /** Content type of the part; default: `text/plain`. */
  type?: string;
  /** Further fields, after the file. */
  fields?: Record<string, string>;
}

/** Uploads one file; fails unless it is accepted. */
export async function upload(server: ServerClient, given: UploadForm = {}): Promise<Upload> {
  const { content = 'hello', filename = 'a.txt', type = 'text/plain', fields = {} } = given;
  const body = new FormData();
  body.append('file', new File([content], filename, { type }));
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  const response = await server.fetch('/api/v1/files', { method: 'POST', body });
  const { code, msg, data } = (await response.json()) as { code: number; msg: string; data: unknown };
  if (code !== 0) throw new Error(`the upload was refused: ${code} ${msg}`);
  return uploadSchema.parse(data);
}
