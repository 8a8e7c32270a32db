/** The icon of each tone: no state is displayed by its colour alone. */
import type { IconName } from './icon-names.ts';

export type Tone = 'good' | 'bad' | 'attention' | 'info' | 'neutral';

export const toneIcons: Record<Exclude<Tone, 'neutral'>, IconName> = {
  good: 'circle-check',
  bad: 'circle-x',
  attention: 'triangle-alert',
  info: 'info',
};
