/** An agent program without web access. */
import type { Web } from '#server/web/web.ts';

const unreachable = () => Promise.reject(new Error('there is no web'));

export const noWeb: Web = { canSearch: () => false, search: unreachable, fetchPage: unreachable };
