import * as z from 'zod';
import { refreshReportSchema } from '#schema/rest/refresh.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Refresh the models of all providers from their sources',
  description: 'Waits for the sources. One that fails is in `failed`; it does not stop the others.',
  tag: 'providers',
  operationId: 'refreshProviders',
  // Any JSON is accepted and ignored.
  body: z.unknown(),
  bodyRequired: false,
  bodyLast: true,
  data: refreshReportSchema,
  handler: ({ caller, app }) => app.modelRefresh.refresh('all', caller),
});
