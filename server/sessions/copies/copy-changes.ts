/** The title and the custom metadata of a copied session. */
import { CHILD_KIND, customMetadata, withoutParent, type SessionHeader } from '../index/session-header.ts';

export interface CopyRequest {
  title?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
}

/**
 * Returns the members of the copy's header that differ from the original. A child's parent cannot be overridden by the
 * request.
 */
export function copyChanges(
  kind: 'fork' | 'child',
  source: Pick<SessionHeader, 'id' | 'custom'>,
  { title }: Pick<SessionHeader, 'title'>,
  request: CopyRequest,
): Pick<SessionHeader, 'title' | 'titleKind' | 'custom'> {
  const name = title || source.id;
  const parent = kind === 'child' ? { parent_session_id: source.id, child_session_kind: CHILD_KIND } : {};
  return {
    title: request.title ?? `${kind === 'child' ? 'Child' : 'Fork'}: ${name}`,
    titleKind: kind === 'child' || request.title !== undefined ? 'custom' : 'replaceable',
    custom: {
      ...withoutParent(customMetadata(source.custom)),
      ...customMetadata(request.metadata ?? {}),
      ...parent,
    },
  };
}
