/** The manifest of a plugin: what it contributes, and findings about what it gets wrong. */
import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { readRegular } from '#server/files/read-regular.ts';
import { asRecord, isRecord, parseJson } from '#server/text/json.ts';
import { jsonErrorReason } from '#server/text/json-error.ts';
import type { HookConfig } from '#schema/config/config.ts';
import type { Diagnostic, Report, Severity } from './diagnostics.ts';
import { readAgents, readCommands, readSkills, type CommandPath } from './manifest-folders.ts';
import { readHooks, readServers, type PluginServer } from './manifest-programs.ts';
import { readSystemPrompt } from './manifest-prompt.ts';
import { admitInside, type PluginRoot } from './paths-inside.ts';
import { PLUGIN_NAME } from './registry.ts';

const MAX_BYTES = 1024 * 1024;
/** The first one that exists is used. */
export const MANIFESTS = ['service.plugin.json', join('.service-plugin', 'plugin.json')];
const UNSUPPORTED = ['tools', 'apps', 'inject', 'configFile', 'config_file', 'bootstrap'];

export interface PluginManifest {
  /** Absolute path of the manifest. */
  path: string;
  id: string;
  displayName: string | undefined;
  version: string | undefined;
  /** Directories that are searched for skills. */
  skillFolders: string[];
  /** The only skill of a plugin that names no directories and has a `SKILL.md`. */
  skillFile: string | undefined;
  agentFolders: string[];
  commands: CommandPath[];
  hooks: HookConfig[];
  mcpServers: PluginServer[];
  /** The skill that is rendered at the start of conversations. */
  sessionStartSkill: string | undefined;
  /** Text before each of the plugin's skills. */
  skillInstructions: string | undefined;
  systemPrompt: string | undefined;
}

export interface ParsedManifest {
  /** Undefined if it is missing, no JSON object, or has no valid name. */
  manifest: PluginManifest | undefined;
  diagnostics: Diagnostic[];
}

/** Trims a text; undefined for a blank one and for other values. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.trim() || undefined : undefined;
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** The first manifest that exists, and whether there is another one. */
async function findManifest(root: string): Promise<{ path: string; shadowed: string | undefined } | undefined> {
  const found: string[] = [];
  for (const name of MANIFESTS) {
    if (await exists(join(root, name))) found.push(join(root, name));
  }
  const [path, shadowed] = found;
  return path === undefined ? undefined : { path, shadowed };
}

/** Whether the directory has a manifest, valid or not. */
export const hasManifest = async (root: string): Promise<boolean> => (await findManifest(root)) !== undefined;

/** The object in the file. Throws an error with a reason for people, which quotes no value. */
async function readObject(path: string, root: PluginRoot): Promise<Record<string, unknown>> {
  const bytes = await readRegular(path, { maxBytes: MAX_BYTES, admit: admitInside(root) }).catch((error: unknown) => {
    const code = errorCode(error);
    throw new Error(`the manifest cannot be read: ${code ?? errorMessage(error)}`, { cause: error });
  });
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error('the manifest is not valid JSON: it is not UTF-8', { cause: error });
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new Error(`the manifest is not valid JSON: ${jsonErrorReason(error, text)}`, { cause: error });
  }
  if (!isRecord(value)) throw new Error('the manifest is not an object');
  return value;
}

/** Reads the manifest of the plugin in a directory. Never rejects: all failures are findings. */
export async function readManifest(root: string): Promise<ParsedManifest> {
  const diagnostics: Diagnostic[] = [];
  const found = await findManifest(root);
  const path = found?.path ?? join(root, MANIFESTS[0] ?? '');
  const report = (severity: Severity, message: string) => void diagnostics.push({ severity, message, path });
  const failed = (message: string): ParsedManifest => {
    report('error', message);
    return { manifest: undefined, diagnostics };
  };
  if (!found) return failed(`the manifest is missing (${MANIFESTS.join(' or ')})`);
  const { shadowed } = found;
  if (shadowed !== undefined) {
    diagnostics.push({ severity: 'info', message: `the file is not used, because ${path} exists`, path: shadowed });
  }
  try {
    const place: PluginRoot = { path: root, real: await realpath(root) };
    const document = await readObject(path, place);
    const { name } = document;
    if (typeof name !== 'string') return failed('"name" is missing');
    // Reported without the value, which may have any length.
    if (!PLUGIN_NAME.test(name)) return failed(`"name" must match ${PLUGIN_NAME.source}`);
    return { manifest: await readMembers({ path, name, document }, place, report), diagnostics };
  } catch (error) {
    return failed(errorMessage(error));
  }
}

interface NamedDocument {
  path: string;
  name: string;
  document: Record<string, unknown>;
}

async function readMembers(
  { path, name, document }: NamedDocument,
  root: PluginRoot,
  report: Report,
): Promise<PluginManifest> {
  for (const field of UNSUPPORTED) {
    if (document[field] !== undefined) report('info', `"${field}" is not supported and is ignored`);
  }
  return {
    path,
    id: name.toLowerCase(),
    displayName: textOf(asRecord(document.interface)?.displayName),
    version: textOf(document.version),
    ...(await readSkills(document.skills, root, report)),
    agentFolders: await readAgents(document.agents, root, report),
    commands: await readCommands(document.commands, root, report),
    hooks: readHooks(document.hooks, report),
    mcpServers: await readServers(document.mcpServers, root, report),
    sessionStartSkill: readSessionStart(document.sessionStart, report),
    skillInstructions: textOf(document.skillInstructions),
    systemPrompt: await readSystemPrompt(document, root, report),
  };
}

function readSessionStart(value: unknown, report: Report): string | undefined {
  if (value === undefined) return undefined;
  const skill = textOf(asRecord(value)?.skill);
  if (skill === undefined) report('warn', '"sessionStart" must be an object with the name of a skill');
  return skill;
}
