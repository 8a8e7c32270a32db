/** Slash commands: those of the bridge, the skills, and the commands of plugins. */
import type { AvailableCommand } from '@agentclientprotocol/sdk';
import type { ActivateSkill, ContentPart, SkillDescriptor } from '@service-code/client';

export type Attachment = NonNullable<ActivateSkill['attachments']>[number];

export type Command =
  | { kind: 'compact'; instruction: string }
  | { kind: 'undo' }
  | { kind: 'plan'; isOn: boolean; content: ContentPart[] }
  | { kind: 'skill'; name: string; args: string; attachments: Attachment[] };

const OWN: AvailableCommand[] = [
  {
    name: 'compact',
    description: 'Summarizes the conversation to free context',
    input: { hint: 'what the summary should keep' },
  },
  { name: 'undo', description: 'Removes the last prompt and everything after it from the conversation' },
  { name: 'plan', description: 'Turns plan mode on, or off', input: { hint: 'on, off, or what is to be planned' } },
];
const isOwn = (name: string) => OWN.some((one) => one.name === name);

/** Arguments of `/plan`; other text is a prompt that is sent in plan mode. */
const PLAN_MODES: Partial<Record<string, boolean>> = { '': true, on: true, off: false };

/** Types of skills that a person can activate; others, such as references, are for the model. */
const OFFERED: ReadonlySet<string> = new Set(['prompt', 'inline', 'flow', 'command']);
const DESCRIPTION_CHARS = 500;

const isOffered = ({ name, type }: SkillDescriptor) => (type === undefined || OFFERED.has(type)) && !isOwn(name);

/** The list of commands for the editor. */
export const commandsOf = (skills: readonly SkillDescriptor[]): AvailableCommand[] => [
  ...OWN,
  ...skills.filter(isOffered).map(({ name, description }) => ({
    name,
    description: description.slice(0, DESCRIPTION_CHARS),
    input: { hint: 'arguments' },
  })),
];

/** The command at the start of a prompt; undefined for an ordinary prompt. */
export function commandIn(content: readonly ContentPart[], skills: readonly SkillDescriptor[]): Command | undefined {
  const text = textOf(content);
  const [, name = '', rest = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(text.trim()) ?? [];
  if (name === '') return undefined;
  const args = rest.trim();
  if (name === 'compact') return { kind: 'compact', instruction: args };
  const isAlone = content.every(({ type }) => type === 'text');
  // With a text it is a request to the model.
  if (name === 'undo') return args === '' && isAlone ? { kind: 'undo' } : undefined;
  if (name === 'plan') {
    const mode = isAlone ? PLAN_MODES[args.toLowerCase()] : undefined;
    return { kind: 'plan', isOn: mode ?? true, content: mode === undefined ? withoutCommand(content) : [] };
  }
  const skill = skills.find((one) => isOffered(one) && one.name.toLowerCase() === name.toLowerCase());
  return skill && { kind: 'skill', name: skill.name, args, attachments: content.filter(isAttachment) };
}

function withoutCommand(content: readonly ContentPart[]): ContentPart[] {
  const at = content.findIndex(({ type }) => type === 'text');
  return content.flatMap((part, index) => {
    if (part.type !== 'text' || index !== at) return [part];
    const text = part.text.replace(/^\s*\/\S+\s*/, '');
    return text === '' ? [] : [{ ...part, text }];
  });
}

/** The text of a prompt as the transcript has it. */
export const textOf = (content: readonly ContentPart[]): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('');

const isAttachment = (part: ContentPart): part is Attachment =>
  part.type === 'image' || part.type === 'video' || part.type === 'file';
