import * as z from 'zod';
import { refreshReportSchema } from '#schema/rest/refresh.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';

export default defineEndpoint({
  summary: 'Refresh the models of one provider from its source',
  description: 'Other providers of the same registry are neither changed nor added or removed.',
  tag: 'providers',
  operationId: 'refreshProvider',
  params: pathParams('provider_id'),
  // Any JSON is accepted and ignored.
  body: z.unknown(),
  bodyRequired: false,
  bodyLast: true,
  data: refreshReportSchema,
  errors: ['provider.not_found'],
  handler: ({ params, caller, app }) => app.modelRefresh.refresh({ provider: params.provider_id }, caller),
});
