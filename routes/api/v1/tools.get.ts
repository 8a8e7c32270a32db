import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';
import { toolDescriptorSchema } from '#schema/rest/tool.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Tools of a loaded session, by default of the one created last',
  tag: 'tools',
  tagDescription: 'Tools and MCP servers',
  query: z.object({ session_id: nonEmpty.optional() }),
  data: z.object({ tools: z.array(toolDescriptorSchema) }),
  handler: async ({ query, app }) => ({ tools: await app.sessions.tools(query.session_id) }),
});
