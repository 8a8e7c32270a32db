/** Media that a session keeps as files: records name them by an address that nobody outside the server is shown. */

/** No client may send an address of this scheme. */
export const STORED_MEDIA_SCHEME = 'service-file:';

export const storedMediaUrl = (id: string): string => `${STORED_MEDIA_SCHEME}//${id}`;

/** The id that such an address names; undefined for any other. */
export function storedMediaId(url: string): string | undefined {
  return url.startsWith(`${STORED_MEDIA_SCHEME}//`) ? url.slice(STORED_MEDIA_SCHEME.length + 2) : undefined;
}
