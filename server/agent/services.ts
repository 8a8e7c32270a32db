/** The services of every agent: tools, models, limits and rules, read from the configuration at each use. */
import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { Images } from '#server/images/images.ts';
import { completionBudget } from '#server/models/budget.ts';
import type { Identity } from '#server/account/identity.ts';
import { resolveModel } from '#server/models/resolve.ts';
import type { ModelClient } from '#server/models/stream.ts';
import type { VideoUploads } from '#server/models/video-uploads.ts';
import { requestSettings, resolveEffort } from '#server/models/thinking.ts';
import { activeTools } from '#server/permissions/active-tools.ts';
import { createCommandLineReader } from '#server/permissions/command-line/command-line-reader.ts';
import { createPermissionPolicy } from '#server/permissions/policy.ts';
import { findServerFiles } from '#server/permissions/server-files.ts';
import { isInside } from '#server/files/paths.ts';
import { createServerHome } from '#server/home/server-home.ts';
import { ignoredConfigWarning, type IgnoredConfig } from '#server/project-files/ignored-config.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { DETACHED_TIMEOUT_S, KILL_GRACE_MS } from '#server/tasks/tasks.ts';
import type { PluginCommands } from '#server/plugins/commands.ts';
import type { Contributions } from '#server/plugins/contributions.ts';
import { createSkills } from '#server/skills/skills.ts';
import type { Tool } from '#server/tools/tool.ts';
import { findNestedInstructions } from './calls/nested-instructions.ts';
import { createMediaKinds } from './media/media-kinds.ts';
import type { SessionLocation } from './contract/context.ts';
import type { AgentDefaults } from './contract/feature.ts';
import { mainProfile } from './profiles/built-in.ts';
import { createAgentProfiles } from './profiles/profiles.ts';
import { createInstructionFiles } from './prompt/instructions.ts';
import { renderSystemPrompt } from './prompt/system-prompt.ts';
import { DEFAULT_MAX_ATTEMPTS } from './loop/retry.ts';
import { createStoredMediaReader } from './media/stored-media.ts';
import type { AgentServices } from './contract/services.ts';

const PRODUCT_NAME = 'Service Code';

export interface AgentServicesDeps {
  runtime: Runtime;
  /** How long a check of a directory's instruction and agent files stays valid, in ms. */
  instructionsMaxAgeMs: number;
  clock: Clock;
  home: string;
  /** Name of the shell that Bash runs, for the system prompt. */
  shell: string;
  config: Config;
  defaults: AgentDefaults;
  env: () => NodeJS.ProcessEnv;
  identity: Identity;
  client: ModelClient;
  images: Images;
  videos: VideoUploads;
  /** Contributions of plugins, read at each use. */
  contributed: () => Pick<Contributions, 'skills' | 'agentFolders' | 'roots'>;
  commands: PluginCommands;
  /** Tools of every agent; features add more. */
  tools: readonly Tool[];
  /** Current additional directories of this root, which are treated as workspace. */
  additionalDirs: (root: string) => Promise<readonly string[]>;
  /** Files that list additional directories but are not applied. */
  ignoredDirs: (root: string) => Promise<readonly IgnoredConfig[]>;
  projects: Projects;
  /** Whether the user trusts exactly this directory. */
  trusted: (directory: string) => Promise<boolean>;
  log: Logger;
}

/** Creates the services; files and configuration are read on use. */
export function createAgentServices(deps: AgentServicesDeps): AgentServices {
  const { runtime, projects, home, config, env, identity, client, tools, log } = deps;
  const serverHome = createServerHome(home);
  const files = createInstructionFiles({
    runtime,
    projects,
    home,
    isSecret: async (real) => (await findServerFiles({ home: serverHome })).isSecret(real),
    clock: deps.clock,
    maxAgeMs: deps.instructionsMaxAgeMs,
  });
  const profiles = createAgentProfiles({
    files: runtime,
    home,
    homeDirectory: runtime.homeDirectory,
    addedFolders: () => deps.contributed().agentFolders,
    extraDirs: () => config.effective().extraAgentDirs ?? [],
    project: files.project,
    admits: projects.admits,
    trusted: deps.trusted,
    clock: deps.clock,
    maxAgeMs: deps.instructionsMaxAgeMs,
    log,
  });
  const skills = createSkills({
    files: runtime,
    home,
    homeDirectory: runtime.homeDirectory,
    project: files.project,
    admits: projects.admits,
    settings: config.effective,
    pluginFolders: () => deps.contributed().skills,
    log,
  });
  const mediaKinds = createMediaKinds((alias, effective) =>
    resolveModel(alias, { config: effective, env: env(), identity }),
  );
  const storedMedia = createStoredMediaReader({ videos: deps.videos, log });
  const policy = createPermissionPolicy({
    reader: createCommandLineReader({ log }),
    repositoryOf: projects.repositoryOf,
    async controlFolders(cwd) {
      const [{ user, named }, ofSkills] = await Promise.all([profiles.folders(cwd), skills.folders(cwd)]);
      // A folder that contains the workspace would make every write ask.
      return { user, named: [...named, ...ofSkills.filter((folder) => !isInside(cwd, folder))] };
    },
  });
  const reach = ({ cwd, dir, ancestorDirs, clientDirs }: SessionLocation) => ({
    runtime,
    cwd,
    sessionDir: dir,
    ...(ancestorDirs ? { ancestorDirs } : {}),
    home: serverHome,
    additionalDirs: async () => [...(await deps.additionalDirs(cwd)), ...(clientDirs?.() ?? [])],
    readableDirs: async () => [...(await skills.look(cwd)).readable, ...deps.contributed().roots],
  });

  return {
    tools,
    skills,
    commands: deps.commands,
    ...deps.defaults,
    resolveModel: (alias) => resolveModel(alias, { config: config.effective(), env: env(), identity }),
    effort: (model, wanted) => resolveEffort(model, wanted, config.effective().thinking),
    settings: (model, effort) => requestSettings(model, effort, config.effective().thinking, config.modelVariables()),
    budget: (model, used) =>
      completionBudget(model, used, {
        variable: config.modelVariables().maxCompletionTokens,
        reserved: config.effective().loopControl.reservedContextSize,
      }),
    limits() {
      const { maxStepsPerTurn = 0, maxAttemptsPerStep = DEFAULT_MAX_ATTEMPTS } = config.effective().loopControl;
      return { maxSteps: maxStepsPerTurn, maxAttempts: Math.max(1, maxAttemptsPerStep) };
    },
    tasks() {
      const { maxRunningTasks, killGracePeriodMs, bashTaskTimeoutS, bashAutoBackgroundOnTimeout, keepAliveOnExit } =
        config.effective().background;
      return {
        maxRunning: maxRunningTasks,
        killGraceMs: killGracePeriodMs ?? KILL_GRACE_MS,
        detachedTimeoutMs: (bashTaskTimeoutS ?? DETACHED_TIMEOUT_S) * 1000,
        detachOnTimeout: bashAutoBackgroundOnTimeout ?? true,
        keepAliveOnExit: keepAliveOnExit ?? false,
      };
    },
    stream: client.streamModel,
    images: deps.images,
    mediaKinds: (alias) => mediaKinds(config.effective(), alias),
    withStoredMedia: storedMedia.resolve,
    async readInstructions({ cwd }) {
      const [instructions, ignored] = await Promise.all([files.read(cwd), deps.ignoredDirs(cwd)]);
      return { ...instructions, warnings: [...instructions.warnings, ...ignored.map(ignoredConfigWarning)] };
    },
    repositoryOf: projects.repositoryOf,
    nestedInstructions: (touched, known) => findNestedInstructions(touched, known, { files, runtime }),
    profiles: ({ cwd }) => profiles.seen(cwd).profiles,
    lookAtProfiles: ({ cwd }) => profiles.look(cwd),
    renderPrompt: (place, { instructions, additionalDirs, sections }, { role, template }) =>
      renderSystemPrompt({
        runtime,
        productName: config.effective().identity.name ?? PRODUCT_NAME,
        cwd: place.cwd,
        shell: deps.shell,
        additionalDirs,
        instructions,
        sections,
        role,
        template,
        now: new Date(deps.clock.now()),
      }),
    toolSettings: () => config.effective().tools,
    toolPolicy(names, bound, sessionDisabled) {
      const profile = bound ? { tools: bound.tools, disallowedTools: bound.disallowed } : mainProfile;
      return activeTools(names, { profile, config: config.effective().tools, sessionDisabled });
    },
    reach,
    decide: (tool, { subject, accesses, review }, { agentId, place, mode, remembered, steps, admitted }) =>
      policy.decide(
        {
          toolName: tool.name,
          agentId,
          permission: tool.permission,
          effects: tool.effects,
          subject,
          accesses,
          review: review !== undefined,
        },
        {
          mode,
          rules: config.permissionRules(),
          remembered,
          steps,
          places: reach(place),
          admitted: admitted.flatMap((earlier) => earlier.accesses),
        },
      ),
  };
}
