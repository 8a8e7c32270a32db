import { homedir } from 'node:os';
import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';

const RECENT_ROOTS = 8;

export default defineEndpoint({
  summary: 'The home of the user, and the most recently opened workspaces',
  tag: 'fs',
  operationId: 'fsHome',
  data: z.object({ home: z.string(), recent_roots: z.array(z.string()) }),
  async handler({ app }) {
    const workspaces = await app.workspaces.list();
    const recent = workspaces.toSorted((a, b) => (a.last_opened_at < b.last_opened_at ? 1 : -1));
    return { home: homedir(), recent_roots: recent.slice(0, RECENT_ROOTS).map(({ root }) => root) };
  },
});
