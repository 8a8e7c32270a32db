/** Views of activations, and of calls of the Skill tool. */
import { t, type PlainKey } from '../../messages/messages.ts';
import { textOf, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';
import { isObject, textIn } from '../../state/is-object.ts';
import type { Marker } from '../../state/rows.ts';

export type SkillBody = {
  kind: 'skill';
  name: string;
  args: string | undefined;
  /** The call whose result reports that the skill is loaded. */
  loadedBy: string | undefined;
};

const lineOf = (name: string, args: string | undefined) => (args ? `${name} ${args}` : name);

function summaryOf(name: string, args: string | undefined, loadedBy?: string): ToolSummary {
  const body: SkillBody = { kind: 'skill', name, args, loadedBy };
  return { verb: t('tools.skill'), subject: lineOf(name, args), body };
}

export const skillViews: ToolViews = {
  tools: {
    Skill: (input, { id, state }) =>
      summaryOf(textOf(input, 'skill'), textIn(input, 'args'), state === 'done' ? id : undefined),
  },
  displays: { skill_call: ({ skill_name, args }) => summaryOf(skill_name, args) },
};

export interface Activation {
  id: string;
  kind: 'tools.skill' | 'skills.pluginCommand';
  /** The typed line without its `/`. */
  line: string;
  args: string | undefined;
  path: string | undefined;
  source: string | undefined;
  isByUser: boolean;
}

const SOURCES: Readonly<Record<string, PlainKey>> = {
  project: 'skills.ofProject',
  user: 'skills.ofUser',
  extra: 'skills.extra',
  builtin: 'skills.builtin',
};

/** The origin of a skill in words. */
export function sourceWord(source: string): string {
  const key = SOURCES[source];
  return key ? t(key) : source;
}

/** The activation that a marker records; undefined if it lacks an id or a name. */
export function activationIn({ payload }: Pick<Marker, 'payload'>): Activation | undefined {
  if (!isObject(payload)) return undefined;
  const isCommand = payload['variant'] === 'plugin_command';
  const id = textIn(payload, 'activationId');
  const name = textIn(payload, isCommand ? 'commandName' : 'skillName');
  if (id === undefined || name === undefined) return undefined;
  const args = textIn(payload, isCommand ? 'commandArgs' : 'skillArgs');
  const source = textIn(payload, 'skillSource');
  const plugin = textIn(payload, 'pluginId');
  return {
    id,
    kind: isCommand ? 'skills.pluginCommand' : 'tools.skill',
    line: lineOf(isCommand ? `${plugin ?? ''}:${name}` : name, args),
    args,
    path: textIn(payload, 'skillPath'),
    source: isCommand ? plugin && t('skills.ofPlugin', { plugin }) : source && sourceWord(source),
    isByUser: textIn(payload, 'trigger') === 'user-slash',
  };
}

/** Whether the marker has a card; a skill that the model has loaded is displayed by the card of its call. */
export const isActivationDrawn = (marker: Marker): boolean => activationIn(marker)?.isByUser === true;
