import * as z from 'zod';
import { refreshReportSchema } from '#schema/rest/refresh.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Refresh the models of the managed login',
  description: 'All lists are empty if there is none.',
  tag: 'providers',
  operationId: 'refreshOauthProvider',
  // Any JSON is accepted and ignored.
  body: z.unknown(),
  bodyRequired: false,
  bodyLast: true,
  data: refreshReportSchema,
  handler: ({ caller, app }) => app.modelRefresh.refresh('oauth', caller),
});
