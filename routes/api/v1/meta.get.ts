import { metaSchema } from '#schema/rest/meta.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Version, capabilities and features of this server',
  tag: 'meta',
  tagDescription: 'The server itself',
  data: metaSchema,
  handler: ({ app }) => app.meta(),
});
