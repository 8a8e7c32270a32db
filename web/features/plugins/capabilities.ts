/** Summaries of capabilities, and their progress from events. */
import type { CapabilityInstall, CapabilityStatus, EventFrame } from '@service-code/client';
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

const states: Record<CapabilityStatus['state'], { tone: RowTone; state: string }> = {
  ready: { tone: 'good', state: 'ready' },
  partial: { tone: 'attention', state: 'partly installed' },
  not_installed: { tone: 'idle', state: 'not installed' },
  unsupported: { tone: 'idle', state: 'not available on this machine' },
};

/** The state in words. */
export const shownState = ({ state }: CapabilityStatus) => states[state];

/** The label of the button that installs it; undefined where it is unsupported. */
export const installLabel = ({ supported, state }: CapabilityStatus): string | undefined =>
  supported ? (state === 'ready' ? 'Update' : 'Install') : undefined;

/** The progress of a running installation in words. */
export function progressText({ step = 'starting', percent }: CapabilityInstall): string {
  return percent === undefined ? `${step} …` : `${step} … ${percent} %`;
}

export const stepMarks: Record<CapabilityStatus['steps'][number]['state'], string> = {
  ok: '✓',
  missing: '–',
  failed: '×',
};
