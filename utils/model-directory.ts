/** The model directory for endpoints that also run where there is no app. */
import type { H3Event } from 'h3';
import type { ModelDirectory } from '#server/model-catalog/directory.ts';
import { lazy } from '#server/async/lazy.ts';

const standalone = lazy(async () => {
  const { createStandaloneDirectory } = await import('#server/model-catalog/standalone-directory.ts');
  return createStandaloneDirectory(process.env);
});

/** The app's directory, which its imports share; without an app one for the process. */
export async function modelDirectoryOf({ context }: H3Event): Promise<Pick<ModelDirectory, 'list' | 'get'>> {
  return Object.hasOwn(context, 'app') ? context.app.modelDirectory : standalone();
}
