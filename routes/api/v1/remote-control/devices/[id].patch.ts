import { remoteAliasSchema, remoteDoneSchema } from '#schema/rest/remote-control.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Rename a device',
  tag: 'remote-control',
  operationId: 'renameRemoteDevice',
  params: pathParams('id'),
  body: remoteAliasSchema,
  data: remoteDoneSchema,
  errors: ['auth.token_missing', 'auth.token_unauthorized', 'internal.error'],
  async handler({ params, body, app }) {
    const remote = await app.remote();
    await remote.rename(params.id, body.alias);
    return { ok: true as const };
  },
});
