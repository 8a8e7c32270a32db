import * as z from 'zod';
import { catalogEntrySchema } from '#schema/rest/catalog.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { modelDirectoryOf } from '#utils/model-directory.ts';

export default defineEndpoint({
  summary: 'List the providers of the public model directory',
  description:
    'The directory is cached for 10 minutes; if it cannot be read, an older copy or the snapshot of the build is listed.',
  tag: 'providers',
  stateless: true,
  data: z.object({ items: z.array(catalogEntrySchema) }),
  large: true,
  errors: ['catalog.unavailable'],
  handler: async ({ event }) => ({ items: await (await modelDirectoryOf(event)).list() }),
});
