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
    run({ pane }) {
      if (pane?.panel.value === id) pane.panel.value = undefined;
      else if (pane?.drawer.value === id) pane.drawer.value = undefined;
      else pane?.show(id);
    },
  }));
