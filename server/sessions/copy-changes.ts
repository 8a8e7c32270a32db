/** What a copy of a session is called, and what it keeps of the original's metadata. */
import { CHILD_KIND, customMetadata, withoutParent, type SessionHeader } from './session-header.ts';

export interface CopyRequest {
  title?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
}

/** The members of the copy's header that are not the original's; a child says whose it is, whatever is asked for. */
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
