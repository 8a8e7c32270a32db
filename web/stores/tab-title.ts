/** Keeps the title of the browser's tab up to date. */
import { watchEffect } from 'vue';
import { t } from '../messages/messages.ts';
import { titleOf } from '../messages/session-title.ts';
import { tabTitle } from '../state/tab-title.ts';
import { useWorkbench } from './workbench.ts';

export function useTabTitle(): void {
  const { list, selected, panes, workspaces, meta } = useWorkbench();
  watchEffect(() => {
    const { sessions } = list.value;
    // The list has not all sessions.
    const session =
      panes.focusedPane.value?.session.view.value.session ?? sessions.find(({ id }) => id === selected.value);
    document.title = tabTitle({
      waiting: sessions.filter(({ pending_interaction }) => pending_interaction !== 'none').length,
      session: session && titleOf(session),
      workspace: workspaces.value.find(({ id }) => id === session?.workspace_id)?.name,
      product: t('shell.product'),
      serverTitle: meta.value?.web_title,
    });
  });
}
