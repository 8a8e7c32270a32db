/** Agent ids. A module of its own: who reads it builds no schemas. */

/** The agent that a session always has; the others are `agent-<n>`. */
export const MAIN_AGENT = 'main';
