/** Records that run hooks as notifications: the runs are not awaited, and their results are ignored. */
import type { EventRecord, JournalRecord } from '#server/journal/records.ts';
import type { Whole } from '#server/journal/texts.ts';
import type { HookEvent } from '#schema/config/config.ts';
import type { Origin } from '#schema/engine.ts';

/** The input of a hook for an event, and the text that its matcher is tested on. */
export interface HookInput {
  match: string;
  fields: Record<string, unknown>;
}

interface Row<T extends JournalRecord['type']> {
  event: HookEvent;
  /** Undefined for a record that is no such event. */
  input(record: Whole<Extract<JournalRecord, { type: T }>>): HookInput | undefined;
}

type Rows = { readonly [T in JournalRecord['type']]?: readonly Row<T>[] };

/** The name that distinguishes origins of the same kind. */
function originName(origin: Origin): string | undefined {
  switch (origin.kind) {
    case 'system_trigger':
      return origin.name;
    case 'injection':
      return origin.variant;
    case 'skill_activation':
      return origin.skillName;
    case 'plugin_command':
      return origin.commandName;
    default:
      return undefined;
  }
}

const rows: Rows = {
  'prompt.queued': [
    {
      event: 'UserPromptQueued',
      input({ promptId, content, queueLength }) {
        const prompt = content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('');
        return { match: prompt, fields: { prompt_id: promptId, prompt, queue_length: queueLength } };
      },
    },
  ],
  'turn.started': [
    {
      event: 'TurnStarted',
      input: ({ turnId, origin, prompt }) => ({
        match: origin.kind,
        fields: { turn_id: turnId, origin_kind: origin.kind, origin_name: originName(origin), prompt },
      }),
    },
  ],
  'turn.ended': [
    {
      event: 'Interrupt',
      input: ({ turnId, reason, interruptReason }) =>
        reason === 'cancelled' ? { match: '', fields: { turn_id: turnId, reason: interruptReason } } : undefined,
    },
    {
      event: 'StopFailure',
      input({ reason, error }) {
        if (reason !== 'failed') return undefined;
        const type = error?.name ?? error?.code ?? '';
        return { match: type, fields: { error_type: type, error_message: error?.message ?? '' } };
      },
    },
  ],
  'task.notified': [
    {
      event: 'Notification',
      input: ({ notificationType, title, body, severity, sourceKind, sourceId }) => ({
        match: notificationType,
        fields: {
          sink: 'conversation',
          notification_type: notificationType,
          title,
          body,
          severity,
          source_kind: sourceKind,
          source_id: sourceId,
        },
      }),
    },
  ],
};

/** An event that a record may be; `input` needs the record with its blobs loaded. */
export interface RecordedHookEvent {
  event: HookEvent;
  input(record: Whole<JournalRecord>): HookInput | undefined;
}

const byType: ReadonlyMap<string, readonly unknown[]> = new Map(Object.entries(rows));
const none: readonly RecordedHookEvent[] = [];

/** The events that a record of this type may be. Rows of a type get only records of that type, hence the cast. */
export const hookEventsOf = (type: string) => (byType.get(type) as readonly RecordedHookEvent[] | undefined) ?? none;

/** A requested approval as hook input. */
export const approvalInput = (record: Whole<EventRecord<'permission.approval.requested'>>): HookInput => ({
  match: record.toolName,
  fields: {
    approval_id: record.id,
    turn_id: record.turnId,
    tool_call_id: record.toolCallId,
    tool_name: record.toolName,
    tool_input: record.toolInput,
    action: record.action,
    display: record.display,
  },
});

/** The decision on it as hook input. */
export const decisionInput = (record: EventRecord<'event.approval.resolved'>): Record<string, unknown> => ({
  decision: record.decision,
  scope: record.scope,
  feedback: record.feedback,
  selected_label: record.selected_label,
});
