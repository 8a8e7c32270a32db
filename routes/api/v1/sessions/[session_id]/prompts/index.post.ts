import { promptSchema, submitPromptSchema } from '#schema/rest/prompt.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { MEDIA_BODY_LIMIT } from '#utils/http/body.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Submit a prompt; the reply is sent when it is running or queued',
  tag: 'prompts',
  operationId: 'submitPrompt',
  params: pathParams('session_id'),
  body: submitPromptSchema,
  bodyLimit: MEDIA_BODY_LIMIT,
  data: promptSchema,
  errors: [
    'auth.provisioning_required',
    'auth.token_missing',
    'auth.token_unauthorized',
    'auth.model_not_resolved',
    'session.not_found',
    'file.not_found',
    'skill.not_found',
    'session.busy',
    'prompt.already_completed',
    'skill.not_activatable',
    'prompt.id_conflict',
    'persistence.failure',
  ],
  handler: ({ params, body, caller, app }) => app.sessions.submit(params.session_id, body, caller),
});
