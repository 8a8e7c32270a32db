/** What every agent gets from the program: tools, models, limits and rules, read from the configuration at each use. */
import type { Config } from '#server/config/config.ts';
import { completionBudget } from '#server/models/budget.ts';
import type { Identity } from '#server/models/providers/identity.ts';
import { effectiveRecord, findModel, resolveModel } from '#server/models/resolve.ts';
import type { ModelClient } from '#server/models/stream.ts';
import { requestSettings, resolveEffort } from '#server/models/thinking.ts';
import { activeTools } from '#server/permissions/active-tools.ts';
import { decide } from '#server/permissions/policy.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { Tool } from '#server/tools/tool.ts';
import { findNestedInstructions } from './calls/nested-instructions.ts';
import type { AgentContext } from './context.ts';
import { createInstructionFiles } from './prompt/instructions.ts';
import { mainProfile } from './profile.ts';
import { DEFAULT_MAX_ATTEMPTS } from './retry.ts';
import { renderSystemPrompt } from './prompt/system-prompt.ts';

const PRODUCT_NAME = 'Service Code';
const DEFAULT_PERMISSION = 'manual';

/** Where a session lives and what its agents may look up about it. */
export interface SessionPlace {
  id: string;
  workspaceId: string;
  cwd: string;
  dir: string;
  disabledTools(): readonly string[];
  /** Permission rules remembered for the session. */
  rules(): readonly string[];
}

/** What the program around the sessions gives every agent. */
export interface AgentContextFactory {
  shared: Pick<
    AgentContext,
    'tools' | 'defaultPermission' | 'resolveModel' | 'effort' | 'settings' | 'budget' | 'limits' | 'stream'
  >;
  forSession(
    place: SessionPlace,
  ): Pick<
    AgentContext,
    'environment' | 'ineffectiveToolPatterns' | 'readInstructions' | 'nestedInstructions' | 'renderPrompt' | 'decide'
  >;
  /** Context limit of the configured default model. */
  defaultLimit(): number | undefined;
}

export interface AgentContextFactoryDeps {
  runtime: Runtime;
  /** How long the instruction files of a directory are not looked at again, in ms. */
  instructionsMaxAgeMs: number;
  now(): number;
  home: string;
  /** Name of the shell that Bash runs, for the prompt. */
  shell: string;
  config: Config;
  env: () => NodeJS.ProcessEnv;
  identity: Identity;
  client: ModelClient;
  tools: readonly Tool[];
}

/** Creates the services; nothing is read before an agent asks. */
export function createAgentContextFactory(deps: AgentContextFactoryDeps): AgentContextFactory {
  const { runtime, home, config, env, identity, client, tools } = deps;
  const files = createInstructionFiles({ runtime, home, now: deps.now, maxAgeMs: deps.instructionsMaxAgeMs });
  const names = tools.map((tool) => tool.name);
  // Additional directories and skills come with their endpoints.
  const reach = { additionalDirs: [], skillDirs: [] };

  return {
    shared: {
      tools,
      defaultPermission: () => config.effective().defaultPermissionMode ?? DEFAULT_PERMISSION,
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
      stream: client.streamModel,
    },
    forSession(place) {
      const base = { runtime, cwd: place.cwd, sessionDir: place.dir, ...reach };
      const toolPolicy = () =>
        activeTools(names, {
          profile: mainProfile,
          config: config.effective().tools,
          sessionDisabled: place.disabledTools(),
        });
      return {
        environment: () => ({ ...base, sessionId: place.id, agentId: 'main', activeTools: toolPolicy().active }),
        ineffectiveToolPatterns: () => toolPolicy().ineffective,
        readInstructions: () => files.read(place.cwd),
        nestedInstructions: (touched, known) => findNestedInstructions(touched, known, { files, runtime }),
        renderPrompt: (instructions) =>
          renderSystemPrompt({
            runtime,
            productName: config.effective().identity.name ?? PRODUCT_NAME,
            cwd: place.cwd,
            shell: deps.shell,
            additionalDirs: reach.additionalDirs,
            instructions,
          }),
        decide: (toolName, plan, mode) =>
          decide(
            { toolName, plan },
            {
              mode,
              rules: config.effective().permission?.rules ?? [],
              sessionRules: place.rules(),
              environment: base,
            },
          ),
      };
    },
    defaultLimit() {
      const effective = config.effective();
      const found = effective.defaultModel ? findModel(effective, effective.defaultModel) : undefined;
      const record = found && effectiveRecord(found);
      return record?.maxInputSize ?? record?.maxContextSize;
    },
  };
}
