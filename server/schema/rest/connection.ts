/** One established WebSocket connection, as `GET /connections` returns it. */
import * as z from 'zod';
import { isoTime } from '../scalars.ts';

export const connectionSchema = z
  .object({
    id: z.string().describe('`ws_connection_id` of its `hello` frame'),
    connected_at: isoTime,
    remote_address: z.string().nullable(),
    user_agent: z.string().nullable(),
    has_client_hello: z.boolean(),
    subscriptions: z.array(z.string()).describe('Ids of the sessions to whose events it is subscribed'),
  })
  .meta({ id: 'Connection' });
export type Connection = z.infer<typeof connectionSchema>;
