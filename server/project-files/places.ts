/**
 * Names of the places where projects and the user configure agents. Readers take them from here and permissions guard
 * them, so that no place is read that is not guarded.
 */

/** Folder of a project with agents, instructions, MCP servers and additional directories. */
export const PROJECT_FOLDER = '.service-code';
/** Folder of a project, and of the user's home, that several coding agents read: agents, skills and instructions. */
export const AGENTS_FOLDER = '.agents';
/** File of a project that names MCP servers. */
export const PROJECT_MCP = '.mcp.json';

/** Folders of these names configure agents, wherever they lie. */
export const CONTROL_FOLDERS: readonly string[] = [PROJECT_FOLDER, AGENTS_FOLDER];
