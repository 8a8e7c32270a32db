import * as z from 'zod';
import { afterFields } from '#schema/after-fields.ts';
import { workspaceId } from '#schema/scalars.ts';
import { sessionSchema } from '#schema/rest/session.ts';
import { isPaged } from '#server/sessions/requests/session-list.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { inPortions } from '#utils/http/item-portions.ts';
import { cursorQuery, queryBoolean } from '#utils/query.ts';

export default defineEndpoint({
  summary: 'List sessions, most recently updated first',
  tag: 'sessions',
  tagDescription: 'Sessions',
  query: cursorQuery({
    busy: queryBoolean().optional(),
    include_archive: queryBoolean().optional(),
    archived_only: queryBoolean().optional(),
    exclude_empty: queryBoolean().optional(),
    workspace_id: workspaceId.optional(),
  }).refine((query) => !(query.archived_only && query.include_archive), {
    ...afterFields,
    path: ['archived_only'],
    error: 'archived_only and include_archive are mutually exclusive',
  }),
  data: z.object({ items: z.array(sessionSchema), has_more: z.boolean() }),
  errors: ['workspace.not_found'],
  handler: ({ query, app }) =>
    isPaged(query) ? app.sessions.list(query) : inPortions(app.sessions.portions(query), { has_more: false }),
});
