/** Media that a session stores as files: records refer to them by an address that is never sent to clients. */

/** No client may send an address of this scheme. */
export const STORED_MEDIA_SCHEME = 'service-file:';

export const storedMediaUrl = (id: string): string => `${STORED_MEDIA_SCHEME}//${id}`;

/** The id in such an address; undefined for any other. */
export function storedMediaId(url: string): string | undefined {
  return url.startsWith(`${STORED_MEDIA_SCHEME}//`) ? url.slice(STORED_MEDIA_SCHEME.length + 2) : undefined;
}
