/** The system prompt of an agent. It contains no date, which reminders disclose. */
import { platform } from 'node:os';
import type { InternalFields } from '#server/journal/records.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { listDirectory } from './directory-listing.ts';
import { fillTemplate, type Placeholders } from './template.ts';
import type { Instructions } from './instructions.ts';
import { MAIN_ROLE } from './roles.ts';

/** Sections that stay the same for the agent's life; empty for none. */
export type PromptSections = NonNullable<InternalFields['agent.prompt']['frozen']>;

export interface PromptInputs {
  runtime: Pick<Runtime, 'list'>;
  productName: string;
  cwd: string;
  shell: string;
  additionalDirs: readonly string[];
  instructions: Instructions;
  sections: PromptSections;
  /** Role text; default: the main agent's. */
  role?: string | undefined;
  /** Template of the whole prompt, with placeholders. */
  template?: string | undefined;
  now: Date;
}

const STYLE = `# Language and style
- Answer in the language the user writes in; keep code, identifiers and quoted output as they are.
- Be brief and concrete. Say what you did and what follows from it; leave out praise and filler.
- Refer to code as \`path:line\`. Use Markdown; put code in fenced blocks with the language named.`;

const TOOLS = `# Tools
- Look before you change: read a file before you edit it. Prefer Grep and Glob over shell commands for searching.
- Calls that do not depend on each other belong in one response; they run side by side.
- Some calls need the user's approval. A rejected call was a decision of the user: do not repeat it, ask or choose another way.
- Never claim a result that no tool gave you. When a tool fails, read its message and say so if you cannot go on.
- Text inside \`<system>\` tags in a tool result was added by the server about that result. Text inside
  \`<system-reminder>\` tags is context from the server; it is not written by the user and needs no answer.`;

const WORK = `# Coding
- Follow the conventions of the project: its style, its libraries, its tests. Make the smallest change that solves the task.
- Do not touch what the task does not need. Do not commit, push or publish unless the user asks for it.
- After a change, run what the project offers to check it (tests, type check, linter) and report the outcome honestly.
- Never print, log or commit secrets.

# Long conversations
When a conversation grows too long, older parts are replaced by a summary. Go on from the summary; read files again when you need them.`;

const SKILLS = `# Skills
A skill is a text of instructions for one kind of task. When a task fits a description below, load that skill with the Skill
tool before you start; it can also be read at its path. A skill that is already loaded in this conversation needs no second load.`;

const CLOSING = `Finish what you start: when the task is done, say so in one or two sentences; when it is not, say what is missing.`;

const osKind = () => ({ darwin: 'macOS', win32: 'Windows', linux: 'Linux' })[platform() as string] ?? platform();

/** Renders the prompt; asynchronous, because directories are listed at rendering. */
export function renderSystemPrompt(inputs: PromptInputs): Promise<string> {
  return inputs.template === undefined ? basePrompt(inputs) : fillTemplate(inputs.template, placeholders(inputs));
}

const fenced = (text: string) => `\`\`\`\n${text}\n\`\`\``;

/** Quotes a path that would start another line: a project may contain such names. */
const onOneLine = (path: string) => (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(path) ? JSON.stringify(path) : path);

/** The line before the listing of an additional directory. */
export const directoryHeading = (dir: string): string => `Additional directory: ${onOneLine(dir)}`;

/** The headings of additional directories in a prompt. */
export const shownDirectories = (prompt: string): string[] => prompt.match(/^Additional directory: .*$/gm) ?? [];

/** Further directories get only a heading: a project may configure many. */
const LISTED_DIRECTORIES = 10;

async function additionalDirs({ additionalDirs: dirs, runtime }: PromptInputs): Promise<string[]> {
  const listed = dirs
    .slice(0, LISTED_DIRECTORIES)
    .map(async (dir) => `${directoryHeading(dir)}\n${fenced(await listDirectory(dir, runtime))}`);
  return [...(await Promise.all(listed)), ...dirs.slice(LISTED_DIRECTORIES).map(directoryHeading)];
}

/** Values that a template may reference; each is computed only if it is referenced. */
const placeholders = (inputs: PromptInputs): Placeholders => ({
  base_prompt: () => basePrompt(inputs),
  product_name: () => inputs.productName,
  cwd: () => inputs.cwd,
  cwd_listing: () => listDirectory(inputs.cwd, inputs.runtime),
  cwd_listing_section: async () =>
    `# Working directory\n${inputs.cwd}\n${fenced(await listDirectory(inputs.cwd, inputs.runtime))}`,
  agents_md: () => inputs.instructions.text,
  agents_md_section: () => instructionsSection(inputs.instructions),
  skills: () => inputs.sections.skills,
  skills_section: () => skillsSection(inputs.sections),
  os: osKind,
  shell: () => inputs.shell,
  now: () => inputs.now.toISOString(),
  additional_dirs_info: async () => (await additionalDirs(inputs)).join('\n'),
  additional_dirs_section: async () => {
    const dirs = await additionalDirs(inputs);
    return dirs.length > 0 ? ['# Additional directories', ...dirs].join('\n') : '';
  },
  plugin_sections: () => inputs.sections.plugins,
  plugin_sections_section: () => pluginsSection(inputs.sections),
});

async function basePrompt(inputs: PromptInputs): Promise<string> {
  const extra = await additionalDirs(inputs);
  const environment = [
    '# Environment',
    `Operating system: ${osKind()}`,
    `Shell: ${inputs.shell}`,
    `Working directory: ${inputs.cwd}`,
    fenced(await listDirectory(inputs.cwd, inputs.runtime)),
    ...extra,
  ].join('\n');
  const instructions = instructionsSection(inputs.instructions);
  return [
    `You are ${inputs.productName}.`,
    inputs.role ?? MAIN_ROLE,
    STYLE,
    TOOLS,
    WORK,
    environment,
    instructions,
    skillsSection(inputs.sections),
    pluginsSection(inputs.sections),
    CLOSING,
  ]
    .filter(Boolean)
    .join('\n\n');
}

const skillsSection = ({ skills }: PromptSections): string => (skills === '' ? '' : `${SKILLS}\n${skills}`);

const pluginsSection = ({ plugins }: PromptSections): string =>
  plugins === '' ? '' : `# Instructions of plugins\nThe user has installed the plugins below.\n${plugins}`;

/** The section with the AGENTS.md files; empty if there are none. */
export function instructionsSection({ text }: Instructions): string {
  if (!text) return '';
  return `# Project instructions
The block below is data from the project's AGENTS.md files. Follow it where it concerns your work here; deeper files win over shallower ones.
\`\`\`\`markdown\n${text}\n\`\`\`\``;
}
