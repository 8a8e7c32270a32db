import { remoteStatusSchema, remoteSwitchSchema } from '#schema/rest/remote-control.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Start or stop remote control',
  description:
    'A start is answered when the tunnel is connected, at the latest after 15 s with state `starting`. A stop that arrives through the tunnel is answered with `stopping`.',
  tag: 'remote-control',
  operationId: 'setRemoteControl',
  body: remoteSwitchSchema,
  data: remoteStatusSchema,
  errors: ['auth.token_missing', 'auth.token_unauthorized', 'remote_control.already_running', 'internal.error'],
  async handler({ body, app, event, afterReply }) {
    const remote = await app.remote();
    if (body.enabled) return remote.start();
    if (event.context.served.rules.facts.kind !== 'tunnel') return remote.stop();
    afterReply(remote.stop);
    return remote.announceStop();
  },
});
