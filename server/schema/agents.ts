/** Agent ids. A module of its own: the page and the journal read it without building schemas. */

/** The agent that a session always has; the others are `agent-<n>`. */
export const MAIN_AGENT = 'main';
