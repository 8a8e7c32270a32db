import * as z from 'zod';
import { connectionSchema } from '#schema/rest/connection.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Established WebSocket connections, oldest first',
  tag: 'connections',
  tagDescription: 'WebSocket connections',
  data: z.object({ connections: z.array(connectionSchema) }),
  handler: ({ app }) => ({ connections: app.connections.list() }),
});
