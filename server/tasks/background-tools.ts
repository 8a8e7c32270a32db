/** Names of the tools that list, read and stop tasks: a tool starts work in the background only where all are active. */
export const BACKGROUND_TOOLS: readonly string[] = ['TaskList', 'TaskOutput', 'TaskStop'];
