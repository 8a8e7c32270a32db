/** One established WebSocket connection, as `GET /connections` returns it. */
import { z } from 'zod';
import { isoTime } from './scalars.ts';

export const connectionSchema = z
  .object({
    id: z.string().describe('`ws_connection_id` of its hello'),
    connected_at: isoTime,
    remote_address: z.string().nullable(),
    user_agent: z.string().nullable(),
    has_client_hello: z.boolean(),
    subscriptions: z.array(z.string()).describe('Ids of the sessions whose events it subscribed'),
  })
  .meta({ id: 'Connection' });
export type Connection = z.infer<typeof connectionSchema>;
