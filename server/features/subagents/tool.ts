/** Agent: delegates a task to another agent; the call waits for it or runs it in the background. */
import * as z from 'zod';
import { cutText } from '#server/text/truncate.ts';
import { DEFAULT_SUBAGENT_PROFILE } from '#server/agent/profiles/built-in.ts';
import { BACKGROUND_TOOLS } from '#server/tasks/background-tools.ts';
import {
  defineTool,
  ToolInputError,
  type RunContext,
  type Tool,
  type ToolEnvironment,
  type ToolResult,
} from '#server/tools/tool.ts';
import { modelLines, startParameters, offeredParameters, type StartOptions, type WantedStart } from './start.ts';
import type { Profiles } from '#server/agent/contract/profile.ts';

export const AGENT_TOOL = 'Agent';

const DESCRIPTION_CHARS = 1000;

const base = {
  prompt: z
    .string()
    .min(1)
    .describe('The whole task. The subagent sees nothing else of this conversation: say all it has to know.'),
  description: z.string().min(1).describe('The task in a few words, for people.'),
  subagent_type: z.string().min(1).optional().describe(`Which kind. Default ${DEFAULT_SUBAGENT_PROFILE}.`),
  resume: z
    .string()
    .min(1)
    .optional()
    .describe('Id of an earlier subagent of yours that goes on with its conversation. Not with subagent_type.'),
  run_in_background: z
    .boolean()
    .optional()
    .describe('Go on without waiting for it; you are notified when it has ended.'),
};
const parameters = z.object({ ...base, ...startParameters });

export type AgentArguments = z.output<typeof parameters>;

/** A validated call. */
export interface AgentRequest {
  prompt: string;
  description: string;
  /** Profile of the subagent. */
  profile: string;
  resume: string | undefined;
  background: boolean;
  start: WantedStart;
}

export interface AgentToolDeps {
  /** Profiles that the caller may start. */
  allowed(callerId: string): Profiles;
  /** Profile of an agent that the caller may resume. Throws `ToolInputError`. */
  resumable(callerId: string, agentId: string): string;
  /** Throws `ToolInputError` when the caller cannot start a subagent with these options. */
  checkStart(callerId: string, start: WantedStart): void;
  run(request: AgentRequest, context: RunContext): Promise<ToolResult>;
}

/** Creates the tool; its description lists these profiles and options. */
export function createAgentTool(profiles: Profiles, options: StartOptions, deps: AgentToolDeps): Tool {
  return defineTool({
    name: AGENT_TOOL,
    permission: 'free',
    effects: 'none',
    mainOnly: true,
    description: descriptionOf(profiles, options),
    parameters,
    offeredParameters: offeredParameters(parameters, options),
    prepare(args: AgentArguments, environment) {
      const request = requestOf(args, environment, options, deps);
      const { profile, description, prompt, background } = request;
      const given = args.run_in_background;
      return {
        accesses: [{ kind: 'none' }],
        label: `Launching ${background ? 'background ' : ''}${profile} agent: ${description}`,
        display: {
          kind: 'agent_call',
          agent_name: profile,
          prompt,
          ...(given === undefined ? {} : { background: given }),
        },
        subject: { text: profile, match: 'glob' },
        run: (context) => deps.run(request, context),
      };
    },
  });
}

function requestOf(
  args: AgentArguments,
  environment: ToolEnvironment,
  options: StartOptions,
  deps: AgentToolDeps,
): AgentRequest {
  const { prompt, subagent_type, resume, run_in_background: background = false, model } = args;
  const fork = options.fork && args.fork === true;
  const description = cutText(args.description, DESCRIPTION_CHARS);
  const callerId = environment.agentId;
  if (resume !== undefined && subagent_type !== undefined) {
    throw new ToolInputError('resume and subagent_type exclude each other: a subagent keeps its type.');
  }
  if (resume !== undefined && (fork || model !== undefined)) {
    throw new ToolInputError('resume excludes fork and model: a subagent keeps its conversation and its model.');
  }
  const missing = BACKGROUND_TOOLS.filter((name) => !environment.activeTools.has(name));
  if (background && missing.length > 0) {
    throw new ToolInputError(
      `Subagents cannot run in the background: the tools ${missing.join(', ')} are not active. Run it in the foreground.`,
    );
  }
  const profile = resume === undefined ? typeOf(subagent_type, callerId, deps) : deps.resumable(callerId, resume);
  const start = { fork, model };
  if (resume === undefined) deps.checkStart(callerId, start);
  return { prompt, description, profile, resume, background, start };
}

function typeOf(wanted: string | undefined, callerId: string, deps: AgentToolDeps): string {
  const allowed = deps.allowed(callerId);
  const type = wanted ?? DEFAULT_SUBAGENT_PROFILE;
  if (allowed.has(type)) return type;
  const names = [...allowed.keys()].join(', ');
  throw new ToolInputError(`There is no subagent type "${type}" for you. Allowed types: ${names || 'none'}.`);
}

function descriptionOf(profiles: Profiles, options: StartOptions): string {
  const types = [...profiles.values()].map(({ name, description }) => `- ${name}: ${description}`);
  const models = modelLines(options);
  return `Hand a task to a subagent: an agent of its own, which works with its own conversation and gives you its last message.

Use it for what takes many steps whose details you do not need, and for several such tasks at once: calls in one response run side by side. Do small things yourself. It cannot ask you or the user anything, so the prompt must hold all it needs; say what the answer should contain. The result begins with its agent_id, by which you can let it go on later.

Types:
${types.join('\n')}${models && `\n\n${models}`}`;
}
