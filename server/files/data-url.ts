export interface DataUrl {
  mimeType: string;
  /** Base64. */
  data: string;
}

/** Splits a base64 `data:` URL; undefined for any other URL and for empty data. */
export function parseDataUrl(url: string): DataUrl | undefined {
  const [, mimeType, data] = /^data:([^;,]+)(?:;[^,]*)?;base64,(.+)$/s.exec(url) ?? [];
  return mimeType !== undefined && data !== undefined ? { mimeType, data } : undefined;
}
