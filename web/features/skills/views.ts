/** Views of activations, and of calls of the Skill tool. */
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
  return { verb: 'Skill', subject: lineOf(name, args), body };
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
  kind: 'Skill' | 'Command';
  /** The typed line without its `/`. */
  line: string;
  args: string | undefined;
  path: string | undefined;
  source: string | undefined;
  isByUser: boolean;
}

const SOURCES: Readonly<Record<string, string>> = {
  project: 'of this project',
  user: 'of yours',
  extra: 'added',
  builtin: 'built in',
};

/** The origin of a skill in words. */
export const sourceWord = (source: string): string => SOURCES[source] ?? source;

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
    kind: isCommand ? 'Command' : 'Skill',
    line: lineOf(isCommand ? `${plugin ?? ''}:${name}` : name, args),
    args,
    path: textIn(payload, 'skillPath'),
    source: isCommand ? plugin && `of the plugin ${plugin}` : source && sourceWord(source),
    isByUser: textIn(payload, 'trigger') === 'user-slash',
  };
}

/** Whether the marker has a card; a skill that the model has loaded is displayed by the card of its call. */
export const isActivationDrawn = (marker: Marker): boolean => activationIn(marker)?.isByUser === true;
