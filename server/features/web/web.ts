/** Web tools of a session: FetchURL, and WebSearch while a search service is configured. */
import type { Feature } from '#server/agent/contract/feature.ts';
import type { Web } from '#server/web/web.ts';
import { createFetchUrlTool } from './fetch-url.ts';
import { createWebSearchTool } from './web-search.ts';

declare module '#server/agent/contract/feature.ts' {
  interface FeatureServices {
    readonly web: Web;
  }
}

export const web: Feature = {
  name: 'web',
  open(_session, services) {
    const fetchUrl = createFetchUrlTool(services.web);
    const withoutSearch = [fetchUrl];
    const withSearch = [createWebSearchTool(services.web), fetchUrl];
    return { tools: () => (services.web.canSearch() ? withSearch : withoutSearch) };
  },
};
