import { remoteDoneSchema } from '#schema/rest/remote-control.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Remove a device from the account and disconnect it',
  description: 'An unknown device is removed already.',
  tag: 'remote-control',
  operationId: 'removeRemoteDevice',
  params: pathParams('id'),
  data: remoteDoneSchema,
  errors: ['auth.token_missing', 'auth.token_unauthorized', 'internal.error'],
  async handler({ params, app, event, afterReply }) {
    const remote = await app.remote();
    const { facts } = event.context.served.rules;
    const remove = () => remote.remove(params.id);
    if (await remote.mustFollowReply(params.id, facts)) afterReply(remove);
    else await remove();
    return { ok: true as const };
  },
});
