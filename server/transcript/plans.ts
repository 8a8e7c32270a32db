/** Plans that an agent submitted for review. */
import * as z from 'zod';
import { ServiceError } from '#server/errors/service-error.ts';
import type { Interaction, Plan, Plans } from '#schema/rest/transcript.ts';
import { stateOf, type TranscriptSource } from './reads.ts';
import type { StoredToolFrame } from './reducer/state.ts';
import { shownFrame } from './shown.ts';

/** The call that ends plan mode. */
const EXIT_PLAN_MODE = 'ExitPlanMode';

const option = z.object({ label: z.string().min(1), description: z.string().optional() });
const review = z.object({
  kind: z.literal('plan_review'),
  plan: z.string(),
  path: z.string().optional(),
  options: z.array(z.unknown()).optional(),
});
const answer = z.object({ selectedLabel: z.string().optional(), feedback: z.string().optional() });
const asked = z.object({ display: z.unknown() });

/** A call's result contains the plan after one of these lines; used when its display was not recorded. */
const PLAN_IN_OUTPUT = /^## (?:Approved Plan:|Plan \(auto-approved, not user-reviewed\):)[ \t]*\n([\s\S]*)$/m;
const PATH_IN_OUTPUT = /^Plan saved to: (.+)$/m;

type Found = Pick<Plan, 'plan' | 'path' | 'options'>;

function inDisplay(display: unknown): Found | undefined {
  const { data } = review.safeParse(display);
  if (!data || data.plan.trim() === '') return undefined;
  const options = (data.options ?? []).flatMap((one) => option.safeParse(one).data ?? []);
  return {
    plan: data.plan,
    ...(data.path === undefined ? {} : { path: data.path }),
    ...(options.length > 0 ? { options } : {}),
  };
}

function inOutput(output: unknown): Found | undefined {
  if (typeof output !== 'string') return undefined;
  const plan = PLAN_IN_OUTPUT.exec(output)?.[1]?.trim();
  const path = PATH_IN_OUTPUT.exec(output)?.[1];
  return plan ? { plan, ...(path === undefined ? {} : { path }) } : undefined;
}

function firstPlan(display: unknown, output: unknown, approval: Interaction | undefined) {
  const inReview = approval && inDisplay(asked.safeParse(approval.request).data?.display);
  if (inReview) return { source: 'interaction' as const, ...inReview };
  const shown = inDisplay(display);
  if (shown) return { source: 'display' as const, ...shown };
  const fromOutput = inOutput(output);
  return fromOutput && { source: 'output' as const, ...fromOutput };
}

function reviewOf({ state, response }: Interaction): NonNullable<Plan['review']> {
  const { selectedLabel, feedback } = answer.safeParse(response).data ?? {};
  return {
    state,
    ...(selectedLabel ? { selected_option: selectedLabel } : {}),
    ...(feedback ? { feedback } : {}),
  };
}

/** Plans in timeline order; calls without plan text have none. Throws `tool_call.not_found` for any other call. */
export async function readPlans(source: TranscriptSource, agentId: string, toolCallId?: string): Promise<Plans> {
  const state = stateOf(source, agentId);
  const calls: { turn_id: string; frame: StoredToolFrame; approval: Interaction | undefined }[] = [];
  for (const item of state.items) {
    if (item.kind !== 'turn') continue;
    for (const frame of item.steps.flatMap(({ frames }) => frames)) {
      if (frame.kind !== 'tool' || frame.name !== EXIT_PLAN_MODE) continue;
      if (toolCallId !== undefined && frame.toolCallId !== toolCallId) continue;
      const approval = [...state.interactions.values()].findLast(
        (one) => one.interactionKind === 'approval' && one.toolCallId === frame.toolCallId,
      );
      calls.push({ turn_id: item.turnId, frame, approval });
    }
  }
  if (toolCallId !== undefined && calls.length === 0) {
    throw new ServiceError('tool_call.not_found', `tool call ${toolCallId} is none that ends plan mode`);
  }
  const plans: Plan[] = [];
  for (const call of calls) {
    const { turn_id, frame, approval } = await source.load(call);
    const shown = shownFrame(frame);
    if (shown.kind !== 'tool') continue;
    const found = firstPlan(shown.display, shown.output, approval);
    if (!found) continue;
    plans.push({
      tool_call_id: shown.toolCallId,
      turn_id,
      ...found,
      ...(approval ? { review: reviewOf(approval) } : {}),
    });
  }
  return { agent_id: agentId, plans };
}
