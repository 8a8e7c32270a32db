/**
 * Names of the folders and files in which projects and the user configure agents. Readers import them from here and
 * permissions protect them, so that every folder that is read is also protected.
 */

/** Folder of a project with agents, instructions, MCP servers and additional directories. */
export const PROJECT_FOLDER = '.service-code';
/** Folder of a project and of the user's home that several coding agents read: agents, skills and instructions. */
export const AGENTS_FOLDER = '.agents';
/** File of a project that configures MCP servers. */
export const PROJECT_MCP = '.mcp.json';

/** Folders with these names configure agents at any depth. */
export const CONTROL_FOLDERS: readonly string[] = [PROJECT_FOLDER, AGENTS_FOLDER];
