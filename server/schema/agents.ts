/** Agent ids. Separate from the other schemas so that importers do not build zod schemas. */

/** Id of the main agent, which every session has; the others are `agent-<n>`. */
export const MAIN_AGENT = 'main';
