import * as z from 'zod';
import { ServiceError } from '#server/errors/service-error.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Delete an uploaded file; the copies in sessions remain',
  tag: 'files',
  params: pathParams('file_id'),
  data: z.object({ deleted: z.literal(true) }),
  errors: ['file.not_found', 'persistence.failure'],
  async handler({ params, app }) {
    if (!(await app.uploads.remove(params.file_id))) throw new ServiceError('file.not_found', 'file not found');
    return { deleted: true as const };
  },
});
