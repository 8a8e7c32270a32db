/** Defines the endpoints that end the connection of a device of the account. */
import type { RemoteControl } from '#server/remote/remote-control.ts';
import { remoteDoneSchema } from '#schema/rest/remote-control.ts';
import { defineEndpoint } from './endpoint.ts';
import type { Endpoint } from './endpoint-definition.ts';
import { pathParams } from './params.ts';

interface DeviceEnd {
  summary: string;
  description?: string;
  operationId: string;
  end(remote: RemoteControl, id: string): Promise<void>;
}

/** An endpoint of the device `id`; it replies first if the request came through the connection that it ends. */
export function defineDeviceEndEndpoint({ end, ...description }: DeviceEnd): Endpoint {
  return defineEndpoint({
    ...description,
    tag: 'remote-control',
    params: pathParams('id'),
    data: remoteDoneSchema,
    errors: ['auth.token_missing', 'auth.token_unauthorized', 'internal.error'],
    async handler({ params: { id }, app, event, afterReply }) {
      const remote = await app.remote();
      const work = () => end(remote, id);
      if (await remote.mustFollowReply(id, event.context.served.rules.facts)) afterReply(work);
      else await work();
      return { ok: true as const };
    },
  });
}
