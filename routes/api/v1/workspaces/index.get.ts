import * as z from 'zod';
import { workspaceSchema } from '#schema/rest/workspace.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'List the registered project directories, in the order of registration',
  tag: 'workspaces',
  tagDescription: 'Registered project directories',
  data: z.object({ items: z.array(workspaceSchema) }),
  handler: async ({ app }) => ({ items: await app.workspaces.list() }),
});
