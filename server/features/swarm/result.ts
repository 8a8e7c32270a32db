/** The result of a swarm for the calling model. */
import type { Member, MemberEnd } from './run.ts';

const OUTCOMES = ['completed', 'failed', 'aborted'] as const;

const RESUME_HINT =
  'Members with an agent_id keep their conversation. Call AgentSwarm with resume_agent_ids, or Agent with resume, to let those go on that have not completed.';

const attributeEscapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const attribute = (name: string, value: string | undefined) =>
  value === undefined ? '' : ` ${name}="${value.replace(/[&<>"]/g, (character) => attributeEscapes[character] ?? '')}"`;

/** Escapes the tags of the result, so that a member's text can neither close its element nor open one. */
const contained = (text: string) =>
  text.replace(/<(?=\/?(?:subagent|agent_swarm_result|summary|resume_hint)\b)/gi, '&lt;');

function element({ item, resume }: Member, { agentId, started, outcome, text }: MemberEnd): string {
  const attributes = [
    attribute('mode', resume === undefined ? undefined : 'resume'),
    attribute('agent_id', agentId ?? resume),
    attribute('item', item),
    attribute('state', outcome === 'completed' ? undefined : started ? 'started' : 'not_started'),
    attribute('outcome', outcome),
  ];
  return `<subagent${attributes.join('')}>${contained(text)}</subagent>`;
}

/** Renders the result; members in their order. */
export function swarmResult(members: readonly Member[], ends: readonly MemberEnd[]): string {
  const counts = OUTCOMES.map((outcome) => `${outcome}: ${ends.filter((end) => end.outcome === outcome).length}`);
  const pairs = members.flatMap((member, at) => {
    const end = ends[at];
    return end ? [{ member, end }] : [];
  });
  const resumable = pairs.some(
    ({ member, end }) => end.outcome !== 'completed' && (end.agentId ?? member.resume) !== undefined,
  );
  return [
    '<agent_swarm_result>',
    `<summary>${counts.join(', ')}</summary>`,
    ...(resumable ? [`<resume_hint>${RESUME_HINT}</resume_hint>`] : []),
    ...pairs.map(({ member, end }) => element(member, end)),
    '</agent_swarm_result>',
  ].join('\n');
}
