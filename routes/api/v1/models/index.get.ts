import * as z from 'zod';
import { modelItemSchema } from '#schema/rest/model.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'List the models',
  tag: 'models',
  tagDescription: 'Configured models',
  data: z.object({ items: z.array(modelItemSchema) }),
  handler: ({ app }) => ({ items: app.providers.models() }),
});
