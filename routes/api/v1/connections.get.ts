import { z } from 'zod';
import { connectionSchema } from '#schema/connection.ts';
import { useApp } from '#utils/app.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Established WebSocket connections, oldest first',
  tag: 'connections',
  data: z.object({ connections: z.array(connectionSchema) }),
  handler: () => ({ connections: useApp().connections.list() }),
});
