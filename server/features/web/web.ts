/** The web in a session: pages, and searches while a service for them is configured. */
import type { Feature } from '#server/agent/feature.ts';
import { createFetchUrlTool } from './fetch-url.ts';
import { createWebSearchTool } from './web-search.ts';

export const web: Feature = {
  name: 'web',
  open({ program }) {
    const fetchUrl = createFetchUrlTool(program.web);
    const withoutSearch = [fetchUrl];
    const withSearch = [createWebSearchTool(program.web), fetchUrl];
    return { tools: () => (program.web.canSearch() ? withSearch : withoutSearch) };
  },
};
