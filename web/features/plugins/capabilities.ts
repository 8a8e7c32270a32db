/** Summaries of capabilities, and their progress from events. */
import type { CapabilityInstall, CapabilityStatus, EventFrame } from '@service-code/client';
import { t, type PlainKey } from '../../messages/messages.ts';
import type { RowTone } from '../../render/row-tone.ts';

type Capabilities = readonly CapabilityStatus[];

/** Replaces the state of the installation that an event reports. */
export function withProgress(known: Capabilities, frame: EventFrame): Capabilities {
  if (frame.type !== 'event.capability.changed') return known;
  const { capability_id: id, install } = frame.payload;
  return known.map((capability) => (capability.id === id ? { ...capability, install } : capability));
}

/** Whether an event requires a new detection: an installation has ended, or a change of the plugins may be its work. */
export const endsInstall = (frame: EventFrame): boolean =>
  frame.type === 'event.plugin.changed' ||
  (frame.type === 'event.capability.changed' && !frame.payload.install.running);

const states: Record<CapabilityStatus['state'], { tone: RowTone; state: PlainKey }> = {
  ready: { tone: 'good', state: 'plugins.ready' },
  partial: { tone: 'attention', state: 'plugins.partlyInstalled' },
  not_installed: { tone: 'idle', state: 'plugins.notInstalled' },
  unsupported: { tone: 'idle', state: 'plugins.unsupported' },
};

/** The state in words. */
export function shownState({ state }: CapabilityStatus): { tone: RowTone; state: string } {
  const shown = states[state];
  return { tone: shown.tone, state: t(shown.state) };
}

/** The label of the button that installs it; undefined where it is unsupported. */
export const installLabel = ({ supported, state }: CapabilityStatus): string | undefined =>
  supported ? t(state === 'ready' ? 'plugins.update' : 'common.install') : undefined;

/** The progress of a running installation in words. */
export function progressText({ step, percent }: CapabilityInstall): string {
  return t('plugins.progress', { step, percent });
}

export const stepMarks: Record<CapabilityStatus['steps'][number]['state'], string> = {
  ok: '✓',
  missing: '–',
  failed: '×',
};
