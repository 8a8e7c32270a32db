import type { Command, Panel } from '../features/feature.ts';
import { t } from '../messages/messages.ts';

/** A command for each panel, which opens and closes it in the focused pane. */
export const panelCommands = (panels: readonly Panel[]): Command[] =>
  panels.map(({ id, label, icon, keys }) => ({
    id: `panel.${id}`,
    title: () => t('shell.togglePanel', { label }),
    ...(icon !== undefined && { icon }),
    ...(keys !== undefined && { keys }),
    when: ({ pane }) => pane !== undefined,
    run: ({ pane }) => pane?.toggle(id),
  }));
