/**
 * The permission chain: decides whether a call may run, must be approved, or is refused. Read `standardSteps` top to
 * bottom; the first step that returns a decision wins, and a call without one needs approval.
 */
import type { PermissionRuleConfig } from '#schema/config/config.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import { createConfiguredFilesReader } from '#server/git/configured-files.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { RememberedRule } from '#server/journal/projections/context.ts';
import { createCommandCall } from './command-call.ts';
import { controlPathsOf, type ControlFolders } from './control-folders.ts';
import type { CommandLineReader } from './command-line/command-line-reader.ts';
import type {
  Decision,
  FileAccess,
  PermissionCall,
  PermissionContext,
  PermissionScope,
  PermissionStep,
} from './decision.ts';
import { once } from '#server/memo/once.ts';
import { rememberedRule } from './remembered.ts';
import { createRuleCache } from './rules.ts';
import { findServerFiles } from './server-files.ts';
import { gitPaths } from './steps/git-paths.ts';
import { guardedPaths } from './steps/guarded-paths.ts';
import { autoMode, yoloMode } from './steps/modes.ts';
import { allowRules, askRules, denyRules, rememberedRules, unreadableCommands } from './steps/rules.ts';
import { reviews, toolClass } from './steps/tool-class.ts';

const standardSteps = [
  { name: 'deny rules', decide: denyRules },
  { name: 'unreadable commands', decide: unreadableCommands },
  { name: 'auto mode', decide: autoMode },
  { name: 'reviews', decide: reviews },
  { name: 'remembered rules', decide: rememberedRules },
  { name: 'ask rules', decide: askRules },
  { name: 'allow rules', decide: allowRules },
  { name: 'guarded paths', decide: guardedPaths },
  { name: 'git paths', decide: gitPaths },
  { name: 'yolo mode', decide: yoloMode },
  { name: 'tool class', decide: toolClass },
] as const satisfies { name: string; decide: PermissionStep }[];

/** A step that a feature adds. */
export interface AddedStep {
  /** The standard step that it precedes; default: the first. Added steps keep their order. */
  before?: (typeof standardSteps)[number]['name'];
  decide: PermissionStep;
}

/** The input of a decision in addition to the call. */
export interface PermissionSituation {
  mode: PermissionMode;
  /** The configured rules in their order; undefined until they are loaded. */
  rules: readonly PermissionRuleConfig[] | undefined;
  /** Rules remembered for the session. */
  remembered: readonly RememberedRule[];
  places: PermissionScope;
  /** Steps that features add. */
  steps?: readonly AddedStep[];
  /** Accesses of earlier calls of the same response that may run: their writes are not on the disk yet. */
  admitted?: PermissionCall['accesses'];
}

export interface PermissionPolicy {
  /** Rejects when a path of the call cannot be resolved: a call that cannot be decided is not approved. */
  decide(call: PermissionCall, situation: PermissionSituation): Promise<Decision>;
}

export interface PermissionPolicyDeps {
  reader: CommandLineReader;
  repositoryOf: Projects['repositoryOf'];
  /** Returns the folders that define agents for sessions in a directory. */
  controlFolders(cwd: string): Promise<ControlFolders>;
}

/** Returns every path that the call declares or has as its subject, with links resolved. */
function fileAccesses({ accesses, subject }: PermissionCall, { runtime }: PermissionScope): Promise<FileAccess[]> {
  const declared = accesses.flatMap((access) =>
    access.kind === 'file' ? [{ path: access.path, real: access.real, writes: access.mode !== 'read' }] : [],
  );
  const { text: named } = subject;
  if (subject.match === 'path' && named !== undefined && !declared.some(({ path }) => path === named)) {
    declared.push({ path: named, real: undefined, writes: false });
  }
  const resolved = declared.map(async ({ path, real, writes }) => ({
    path,
    real: real ?? (await runtime.realpath(path)),
    writes,
  }));
  return Promise.all(resolved);
}

/** Returns the files that the calls will write, with links resolved. */
function pendingWrites(admitted: PermissionCall['accesses'], { runtime }: PermissionScope): Promise<string[]> {
  const written = admitted.flatMap((access) => (access.kind === 'file' && access.mode !== 'read' ? [access] : []));
  return Promise.all(written.map(async ({ path, real }) => real ?? runtime.realpath(path)));
}

const MOVED = 'The directory of the command leads to another place than when permission was given.';

const NO_RULES: readonly PermissionRuleConfig[] = [];

/** Returns the standard steps with the features' steps inserted. */
function chain(added: readonly AddedStep[]): PermissionStep[] {
  const [{ name: first }] = standardSteps;
  return standardSteps.flatMap(({ name, decide }) => [
    ...added.filter(({ before = first }) => before === name).map((step) => step.decide),
    decide,
  ]);
}

async function firstDecision(
  steps: readonly PermissionStep[],
  call: PermissionCall,
  context: PermissionContext,
): Promise<Decision> {
  for (const step of steps) {
    const decision = await step(call, context);
    if (decision) return decision;
  }
  return context.ask(`${call.toolName} needs approval.`);
}

/** Creates the policy of a server. */
export function createPermissionPolicy({
  reader,
  repositoryOf,
  controlFolders,
}: PermissionPolicyDeps): PermissionPolicy {
  const compiled = createRuleCache();
  const readConfiguredFiles = createConfiguredFilesReader();

  function contextOf(call: PermissionCall, situation: PermissionSituation): PermissionContext {
    const { mode, rules, remembered, places, admitted = [] } = situation;
    const { subject } = call;
    const command =
      subject.match === 'command' && subject.text !== undefined
        ? createCommandCall(subject.text, subject, { places, reader })
        : undefined;
    const files = once(() => fileAccesses(call, places));
    const realCwd = once(() => places.runtime.realpath(places.cwd));
    const rememberedAs = once(() => rememberedRule(call, { places, command, files }));
    return {
      mode: rules ? mode : 'manual',
      places,
      rules: compiled(rules ?? NO_RULES, places),
      remembered,
      command,
      files,
      realCwd,
      pendingWrites: once(() => pendingWrites(admitted, places)),
      controlPaths: once(async () => controlPathsOf(await controlFolders(places.cwd), places.runtime)),
      repository: once(async () => repositoryOf(await realCwd())),
      repositoryAround: repositoryOf,
      configuredFiles: (repository) => readConfiguredFiles(repository, places.runtime),
      serverFiles: once(() => findServerFiles(places)),
      rememberedAs,
      async ask(reason) {
        const rule = await rememberedAs();
        return { kind: 'ask', reason, ...(rule ? { rule } : {}) };
      },
    };
  }

  return {
    async decide(call, situation) {
      const context = contextOf(call, situation);
      const { command } = context;
      const decision = await firstDecision(chain(situation.steps ?? []), call, context);
      if (!command?.line.includes('cd')) return decision;
      const outdated = async () => ((await command.moved()) ? MOVED : decision.outdated?.());
      return { ...decision, outdated };
    },
  };
}
