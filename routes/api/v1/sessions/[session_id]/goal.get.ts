import { goalOf } from '#server/features/goals/goals.ts';
import { goalSchema } from '#schema/events/modes.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Read the goal of the main agent',
  tag: 'sessions',
  params: pathParams('session_id'),
  data: goalSchema.nullable(),
  errors: ['session.not_found'],
  handler: async ({ params, app }) => {
    const { state } = await app.sessions.read(params.session_id);
    return goalOf(state, app.options.clock.now());
  },
});
