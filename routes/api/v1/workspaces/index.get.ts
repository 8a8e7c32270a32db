import { z } from 'zod';
import { workspaceSchema } from '#schema/workspace.ts';
import { useApp } from '#utils/app.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'List the registered project directories, in the order of registration',
  tag: 'workspaces',
  data: z.object({ items: z.array(workspaceSchema) }),
  handler: async () => ({ items: await useApp().workspaces.list() }),
});
