export interface DataUrl {
  mimeType: string;
  /** Base64. */
  data: string;
}

/** The two halves of a base64 `data:` URL that holds something; undefined for any other URL. */
export function parseDataUrl(url: string): DataUrl | undefined {
  const [, mimeType, data] = /^data:([^;,]+)(?:;[^,]*)?;base64,(.+)$/s.exec(url) ?? [];
  return mimeType !== undefined && data !== undefined ? { mimeType, data } : undefined;
}
