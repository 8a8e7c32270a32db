/** AgentSwarm: one task for many items, with one subagent per item. */
import * as z from 'zod';
import { DEFAULT_SUBAGENT_PROFILE } from '#server/agent/profiles/built-in.ts';
import { cutText } from '#server/text/truncate.ts';
import { defineTool, ToolInputError, type RunContext, type Tool, type ToolResult } from '#server/tools/tool.ts';
import {
  modelLines,
  startParameters,
  offeredParameters,
  type StartOptions,
  type WantedStart,
} from '../subagents/start.ts';
import type { SubagentOffer } from '../subagents/subagents.ts';
import type { Member } from './run.ts';
import type { Profiles } from '#server/agent/contract/profile.ts';

export const AGENT_SWARM = 'AgentSwarm';
export const PLACEHOLDER = '{{item}}';
export const MAX_MEMBERS = 128;
/** Minimum number of items unless agents are resumed. */
export const MIN_ITEMS = 2;

const DESCRIPTION_CHARS = 1000;

const parameters = z.strictObject({
  description: z.string().min(1).describe('What the swarm does in a few words, for people.'),
  subagent_type: z
    .string()
    .min(1)
    .optional()
    .describe(`Which kind the new subagents are. Default ${DEFAULT_SUBAGENT_PROFILE}.`),
  prompt_template: z
    .string()
    .min(1)
    .optional()
    .describe(
      `The whole task of each new subagent, with ${PLACEHOLDER} where its item goes. It sees nothing else of this conversation.`,
    ),
  items: z
    .array(z.string())
    .max(MAX_MEMBERS)
    .optional()
    .describe(`What stands for ${PLACEHOLDER}, one new subagent each; at least ${MIN_ITEMS}, all different.`),
  resume_agent_ids: z
    .record(z.string().min(1), z.string().min(1))
    .optional()
    .describe('Earlier subagents of yours that go on with their conversation: by agent id what each is told.'),
  ...startParameters,
});

export type SwarmArguments = z.output<typeof parameters>;

/** The validated arguments of a call. */
export interface SwarmRequest {
  description: string;
  members: Member[];
  /** How new subagents start. */
  start: WantedStart;
  concurrency: number | undefined;
}

export interface SwarmToolDeps {
  allowed(callerId: string): Profiles;
  /** Returns the profile of an agent that the caller may resume. Throws `ToolInputError`. */
  resumable(callerId: string, agentId: string): string;
  /** Throws `ToolInputError` if a subagent of the caller cannot start like that. */
  checkStart(callerId: string, start: WantedStart): void;
  /** Returns the configured limit. Throws if the setting is invalid. */
  concurrency(): number | undefined;
  run(request: SwarmRequest, context: RunContext): Promise<ToolResult>;
}

/** Creates the tool with the description and parameters for this offer. */
export function createSwarmTool({ profiles, options }: SubagentOffer, deps: SwarmToolDeps): Tool {
  return defineTool({
    name: AGENT_SWARM,
    permission: 'free',
    effects: 'none',
    mainOnly: true,
    description: descriptionOf(profiles, options),
    parameters,
    offeredParameters: offeredParameters(parameters, options),
    prepare(args: SwarmArguments, { agentId }) {
      const description = cutText(args.description, DESCRIPTION_CHARS);
      const members = membersOf(args, agentId, deps);
      const start = { fork: options.fork && args.fork === true, model: args.model };
      if (members.some(({ resume }) => resume === undefined)) deps.checkStart(agentId, start);
      const request = { description, members, start, concurrency: deps.concurrency() };
      return {
        accesses: [{ kind: 'all' }],
        label: `Launching agent swarm: ${description}`,
        display: { kind: 'agent_call', agent_name: `swarm (${members.length} subagents)`, prompt: description },
        subject: { match: 'literal' },
        run: (context) => deps.run(request, context),
      };
    },
  });
}

/** Returns the members, resumed ones first. Throws `ToolInputError`. */
function membersOf(args: SwarmArguments, callerId: string, deps: SwarmToolDeps): Member[] {
  const { items = [], resume_agent_ids = {} } = args;
  const resumed = Object.entries(resume_agent_ids);
  if (resumed.length === 0 && items.length < MIN_ITEMS) {
    throw new ToolInputError(
      `A swarm needs at least ${MIN_ITEMS} items, or resume_agent_ids. Use Agent for a single task.`,
    );
  }
  if (resumed.length + items.length > MAX_MEMBERS) {
    throw new ToolInputError(`A swarm has at most ${MAX_MEMBERS} subagents, resumed ones included.`);
  }
  const prompts = expanded(args.prompt_template, items);
  const goOn = resumed.map(([resume, prompt]) => ({ resume, prompt, profile: deps.resumable(callerId, resume) }));
  if (items.length === 0) return goOn;
  const profile = typeOf(args.subagent_type ?? DEFAULT_SUBAGENT_PROFILE, deps.allowed(callerId));
  return [...goOn, ...items.map((item, at) => ({ item, prompt: prompts[at] ?? '', profile }))];
}

/** Returns the prompt of each item. Throws `ToolInputError`. */
function expanded(template: string | undefined, items: readonly string[]): string[] {
  if (template !== undefined && !template.includes(PLACEHOLDER)) {
    throw new ToolInputError(`prompt_template must contain ${PLACEHOLDER}.`);
  }
  if (items.length === 0) return [];
  if (template === undefined) throw new ToolInputError('items need a prompt_template.');
  const prompts = items.map((item) => template.replaceAll(PLACEHOLDER, () => item));
  if (new Set(prompts).size < prompts.length) {
    throw new ToolInputError('Each item must give another prompt: two subagents would do the same.');
  }
  return prompts;
}

function typeOf(type: string, allowed: Profiles): string {
  if (allowed.has(type)) return type;
  throw new ToolInputError(
    `There is no subagent type "${type}" for you. Allowed types: ${[...allowed.keys()].join(', ') || 'none'}.`,
  );
}

function descriptionOf(profiles: Profiles, options: StartOptions): string {
  const models = modelLines(options);
  const types = [...profiles.values()].map(({ name, description }) => `- ${name}: ${description}`);
  return `Hand the same kind of task to many subagents at once, one for each item, and get the last message of each.

Use it when the same has to be done for many files, modules, questions or cases that do not depend on each other. For a single task, or a few different ones, use Agent. The subagents work side by side in the same directory, so their items must not change the same files. They cannot ask you or the user anything.

It must be the only call of your response: together with any other call it is refused. The call waits for all of them; what has not completed can go on later by resume_agent_ids, alone or together with new items.

Types:
${types.join('\n')}${models && `\n\n${models}`}`;
}
