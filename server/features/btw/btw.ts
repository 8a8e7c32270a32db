/**
 * Side conversations: a separate agent on a copy of the main agent's conversation, with read-only tools. Its tool list
 * is the main agent's, so that the provider's cache of the conversation is used; calls of other tools are refused.
 */
import { copiedHistory } from '#server/agent/copied-history.ts';
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import type { Feature } from '#server/agent/contract/feature.ts';
import { mainProfile } from '#server/agent/profiles/built-in.ts';
import { reminder } from '#server/agent/prompt/reminders.ts';
import { beginsAnew, readContext } from '#server/journal/projections/context.ts';
import { entering, internal, type Draft } from '#server/journal/records.ts';
import type { ModelChecks } from '#server/models/model-checks.ts';
import { MAIN_AGENT } from '#schema/agents.ts';

const READING_TOOLS: ReadonlySet<string> = new Set(['Read', 'Grep', 'Glob']);

const DENIED = `A side conversation only reads: ${[...READING_TOOLS].join(', ')}. Answer from what you know and can read.`;

const REMINDER = `This is a side conversation: a copy of the conversation so far, apart from it. The user asks something beside the
work that goes on there; nothing you say or do here reaches it. Answer the question, and do not go on with that work. Of your tools
only ${[...READING_TOOLS].join(', ')} work here; every other call is refused.`;

const isSide = ({ id, log }: AgentContext) => log.state.status.agents.get(id)?.birth?.purpose === 'btw';

/**
 * Opens a side conversation, also during a turn. Returns the id of its agent. Throws `auth.*` while the main agent's
 * model cannot be used, `session.busy` and `persistence.failure`.
 */
export async function openSideConversation(
  session: SessionContext,
  models: Pick<ModelChecks, 'assertReady' | 'defaultModel'>,
): Promise<string> {
  const { agents, log } = session;
  await models.assertReady(readContext(log.state.context, MAIN_AGENT).config.model);
  await log.claim();
  const { permission } = agents.main.context.config;
  const { bound, config } = readContext(log.state.context, MAIN_AGENT);
  const birth = {
    purpose: 'btw' as const,
    parentAgentId: MAIN_AGENT,
    permission: permission(),
    runtimeId: config.runtimeId,
  };
  if (bound) {
    const records = (agentId: string) => copyOfMain(session, agentId);
    return agents.create({ ...birth, records }, ({ id }) => id);
  }
  // The conversation is empty, so there are no records to copy.
  return agents.create({ ...birth, records: (agentId) => [reminderDraft(agentId)] }, async ({ id, context }) => {
    const model = config.model ?? models.defaultModel();
    await context.config.change({ profile: mainProfile, ...(model === undefined ? {} : { model }) });
    return id;
  });
}

const sideReminder = () => reminder('btw', REMINDER);

const reminderDraft = (agentId: string): Draft => entering(agentId, [sideReminder()], { cause: 'reminder' });

/** Returns records that copy the main agent's profile, settings, prompt and conversation. */
function copyOfMain({ log }: SessionContext, agentId: string): Draft[] {
  const { bound, config, system, systemSha256, frozen } = readContext(log.state.context, MAIN_AGENT);
  const { permission: _permission, runtimeId: _runtimeId, ...model } = config;
  return [
    ...(bound ? [internal(agentId, 'agent.bound', bound)] : []),
    internal(agentId, 'agent.config', model),
    ...(systemSha256 === undefined
      ? []
      : [
          internal(agentId, 'agent.prompt', {
            text: system,
            sha256: systemSha256,
            cause: 'copied',
            ...(frozen ? { frozen } : {}),
          }),
        ]),
    copiedHistory(log.state, agentId, MAIN_AGENT),
    reminderDraft(agentId),
  ];
}

export const btw: Feature = {
  name: 'btw',
  open: () => ({
    reminders: (agent) => (beginsAnew(agent.state()) && isSide(agent) ? [sideReminder()] : []),
    beforeToolCall: (agent, { call }) => (isSide(agent) && !READING_TOOLS.has(call.name) ? DENIED : undefined),
  }),
};
