/** Facts about a session next to its conversation: title, settings and commands, and the versions that the editor has. */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { AgentConfigRequest, Model, Rest, SkillDescriptor, TranscriptMeta } from '@service-code/client';
import { commandsOf } from './commands.ts';
import { modeOf, modesOf, optionsOf, settingsOf, settingsOfMeta, type Settings } from './settings.ts';
import { wellFormed } from './text.ts';

export interface Facts {
  readonly skills: readonly SkillDescriptor[];
  /** Modes and options as they are sent with a reply. */
  described(): { modes: ReturnType<typeof modesOf>; configOptions: ReturnType<typeof optionsOf> };
  options(): ReturnType<typeof optionsOf>;
  /** Reads everything again, as events may have been missed and models, skills and plugins have none of the session. */
  reload(): Promise<void>;
  changeMeta(meta: TranscriptMeta): void;
  changeTitle(title: string, at: string): void;
  /** Changes settings on the server. */
  change(config: AgentConfigRequest): Promise<void>;
  /** The next updates; they are treated as sent. */
  next(): SessionUpdate[];
}

/** Reads the facts of a session. */
export async function readFacts(rest: Rest, id: string): Promise<Facts> {
  const path = { session_id: id };
  let settings: Settings;
  let models: Model[] = [];
  let skills: readonly SkillDescriptor[] = [];
  let defaultModel: string | undefined;
  let meta: Partial<Settings> = {};
  let title = { text: '', at: '' };
  const sent = { title: '', mode: '', options: '', commands: '' };

  const readStatus = async () => settingsOf(await rest.status(id), defaultModel);

  async function reload(): Promise<void> {
    const [session, config, listed, found] = await Promise.all([
      rest.session(id),
      rest.config(),
      rest.models(),
      rest.request('GET /api/v1/sessions/{session_id}/skills', { path }),
    ]);
    title = { text: session.title, at: session.updated_at };
    defaultModel = config.default_model;
    models = listed.items;
    skills = found.skills;
    settings = await readStatus();
  }

  function described() {
    sent.mode = modeOf(settings);
    const configOptions = options();
    return { modes: modesOf(settings), configOptions };
  }

  function options() {
    const configOptions = optionsOf(settings, models);
    sent.options = JSON.stringify(configOptions);
    return configOptions;
  }

  function* updates(): Generator<SessionUpdate> {
    if (title.text !== sent.title) {
      sent.title = title.text;
      yield { sessionUpdate: 'session_info_update', title: wellFormed(title.text), updatedAt: title.at };
    }
    if (modeOf(settings) !== sent.mode) {
      sent.mode = modeOf(settings);
      yield { sessionUpdate: 'current_mode_update', currentModeId: sent.mode };
    }
    const before = sent.options;
    const configOptions = options();
    if (sent.options !== before) yield { sessionUpdate: 'config_option_update', configOptions };
    const availableCommands = commandsOf(skills);
    const commands = JSON.stringify(availableCommands);
    if (commands === sent.commands) return;
    sent.commands = commands;
    yield { sessionUpdate: 'available_commands_update', availableCommands };
  }

  await reload();
  return {
    get skills() {
      return skills;
    },
    described,
    options,
    reload,
    changeMeta(next) {
      const members = settingsOfMeta(next);
      // The status may be newer than a transcript whose changes have not arrived, so only changes are applied.
      const { permission, planMode, model, effort } = members;
      if (permission !== undefined && permission !== meta.permission) settings = { ...settings, permission };
      if (planMode !== undefined && planMode !== meta.planMode) settings = { ...settings, planMode };
      if (model !== undefined && model !== meta.model) settings = { ...settings, model };
      if (effort !== undefined && effort !== meta.effort) settings = { ...settings, effort };
      meta = members;
    },
    changeTitle: (text, at) => void (title = { text, at }),
    async change(config) {
      // An effort is shown only by a session with a model.
      const model = config.thinking === undefined || settings.effort !== undefined ? undefined : settings.model;
      await rest.updateProfile(id, { agent_config: { ...(model !== undefined && { model }), ...config } });
      settings = await readStatus();
    },
    next: () => [...updates()],
  };
}
