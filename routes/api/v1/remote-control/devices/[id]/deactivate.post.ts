import { remoteDoneSchema } from '#schema/rest/remote-control.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Deactivate a device: it stays listed, but is no part of the quota',
  tag: 'remote-control',
  operationId: 'deactivateRemoteDevice',
  params: pathParams('id'),
  data: remoteDoneSchema,
  errors: ['auth.token_missing', 'auth.token_unauthorized', 'internal.error'],
  async handler({ params, app, event, afterReply }) {
    const remote = await app.remote();
    const { facts } = event.context.served.rules;
    const deactivate = () => remote.deactivate(params.id);
    if (await remote.mustFollowReply(params.id, facts)) afterReply(deactivate);
    else await deactivate();
    return { ok: true as const };
  },
});
