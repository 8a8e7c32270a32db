import * as z from 'zod';
import { inspectBody, inspectionSchema } from '#schema/rest/mcp-management.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Inspect configured MCP servers and connect to those that may need a sign-in',
  tag: 'v2-mcp',
  body: inspectBody,
  data: z.array(inspectionSchema),
  errors: ['mcp.server_not_found'],
  handler: ({ body, app }) => app.mcpManagement.inspect(body.targets, body.cwd),
});
