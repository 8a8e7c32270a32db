/** What a subagent did, as lines to draw: its transcript, oldest first. */
import type { TranscriptPage } from '../../client/types.ts';
import type { DrawnCall } from '../../render/tool-view.ts';

export type Line =
  | { kind: 'text'; key: string; text: string }
  | { kind: 'call'; key: string; call: DrawnCall; state: 'running' | 'done' | 'error' }
  | { kind: 'end'; key: string; text: string };

type Turn = Extract<TranscriptPage['items'][number], { kind: 'turn' }>;

export function linesOf({ items }: Pick<TranscriptPage, 'items'>): Line[] {
  return items.flatMap((item) => (item.kind === 'turn' ? turnLines(item) : []));
}

function turnLines({ turnId, steps, state, error }: Turn): Line[] {
  const lines = steps.flatMap(({ frames }) =>
    frames.flatMap((frame): Line[] => {
      if (frame.kind === 'text') return frame.text ? [{ kind: 'text', key: frame.frameId, text: frame.text }] : [];
      if (frame.kind !== 'tool') return [];
      const { name, input } = frame;
      const call: DrawnCall = { name, input, display: undefined, label: undefined, output: undefined };
      return [{ kind: 'call', key: frame.frameId, call, state: frame.state }];
    }),
  );
  if (state === 'failed') return [...lines, { kind: 'end', key: `${turnId}.end`, text: error ?? 'The turn failed.' }];
  if (state === 'cancelled') return [...lines, { kind: 'end', key: `${turnId}.end`, text: 'Stopped.' }];
  return lines;
}
