import { uploadFormSchema, uploadSchema } from '#schema/rest/upload.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Upload a file for prompts',
  tag: 'files',
  tagDescription: 'Uploads and session media',
  form: uploadFormSchema,
  data: uploadSchema,
  errors: ['file.too_large', 'persistence.failure'],
  handler: ({ form, app }) => app.uploads.receive(form),
});
