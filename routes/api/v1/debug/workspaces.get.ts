import * as z from 'zod';
import { workspaceSnapshotSchema } from '#schema/rest/debug.ts';
import { defineDebugEndpoint } from '#utils/debug-endpoint.ts';

export default defineDebugEndpoint({
  summary: 'Read the loaded workspaces',
  data: z.object({ workspaces: z.array(workspaceSnapshotSchema) }),
  view: async (debug) => ({ workspaces: await debug.workspaces.loaded() }),
});
