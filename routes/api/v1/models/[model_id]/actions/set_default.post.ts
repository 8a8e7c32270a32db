import * as z from 'zod';
import { modelItemSchema } from '#schema/rest/model.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Set the default model of new agents',
  tag: 'models',
  params: pathParams('model_id'),
  data: z.object({ default_model: z.string(), model: modelItemSchema }),
  errors: ['model.not_found'],
  handler: ({ params, caller, app }) => app.providers.setDefault(params.model_id, caller),
});
