/** Rows of what happened between turns: errors, refusals, undo, compaction, and the markers that features draw. */
import type { TranscriptState } from '@service-code/client';
import { message, type Message } from '../messages/messages.ts';
import type { Marker, Row, Tone } from './rows.ts';

export function markerRows(item: Marker, isDrawn: (marker: Marker) => boolean): Row[] {
  const { markerId: key, marker } = item;
  const notice = (tone: Tone, text: string | Message): Row[] => [{ kind: 'notice', key, tone, text }];
  switch (marker) {
    case 'interruption':
      return notice(
        'info',
        fieldOf(item, 'reason') === 'server_stopped'
          ? message('conversation.interrupted')
          : message('conversation.stopped'),
      );
    case 'notice': {
      const said = noticeOf(item);
      return said ? notice(said.level, said.message) : [];
    }
    case 'hook':
      return fieldOf(item, 'blocked') === true
        ? notice('warning', message('conversation.hookRefused', { reason: String(fieldOf(item, 'content')) }))
        : [];
    case 'undo':
      return notice(
        'info',
        fieldOf(item, 'turns') === 1 ? message('conversation.tookBackOne') : message('conversation.tookBackMany'),
      );
    case 'clear':
      return notice('info', message('conversation.cleared'));
    case 'compaction':
      return compactionRows(item);
    default:
      return isDrawn(item) ? [{ kind: 'marker', key, marker: item }] : [];
  }
}

function compactionRows(item: Marker): Row[] {
  const key = item.markerId;
  switch (fieldOf(item, 'phase')) {
    case 'completed': {
      const summary = fieldOf(item, 'text');
      const result = fieldOf(item, 'result');
      const [before, after] = [memberOf(result, 'tokensBefore'), memberOf(result, 'tokensAfter')];
      const tokens = typeof before === 'number' && typeof after === 'number' ? { before, after } : undefined;
      return [{ kind: 'compacted', key, summary: typeof summary === 'string' ? summary : '', tokens }];
    }
    case 'cancelled':
      return [{ kind: 'notice', key, tone: 'info', text: message('conversation.notCompacted') }];
    default:
      return [];
  }
}

/** The error or warning that a marker records. */
export function noticeOf(item: Marker): { level: 'error' | 'warning'; message: string } | undefined {
  if (item.marker !== 'notice') return undefined;
  const text = fieldOf(item, 'message');
  if (typeof text !== 'string') return undefined;
  return { level: fieldOf(item, 'level') === 'error' ? 'error' : 'warning', message: text };
}

const fieldOf = ({ payload }: Marker, name: string): unknown => memberOf(payload, name);

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Whether the last compaction marker reports a running compaction. */
export function isCompacting({ items }: Pick<TranscriptState, 'items'>): boolean {
  const last = items.findLast((item) => item.kind === 'marker' && item.marker === 'compaction');
  const phase = last?.kind === 'marker' ? fieldOf(last, 'phase') : undefined;
  return phase === 'started' || phase === 'blocked';
}
