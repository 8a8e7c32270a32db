/** The commands of the shell: palette, sidebar, panes, sessions, regions. */
import type { Feature, CommandContext } from '../features/feature.ts';
import { cycleRegions, focusRegion, regionOf } from '../keys/regions.ts';
import { listRows } from '../state/list-rows.ts';
import { runningTurn } from '../state/session-view.ts';

/** Opens the session that is so many rows after the selected one in the list. */
function moveInList({ workbench }: CommandContext, by: 1 | -1) {
  const { lists, workspaces, pins, selected, select } = workbench;
  const rows = listRows(lists.list.value.sessions, workspaces.value, pins.ids.value);
  const ids = rows.flatMap((row) => (row.kind === 'session' ? [row.session.id] : []));
  const at = ids.indexOf(selected.value ?? '');
  const next = at === -1 ? ids[0] : ids[at + by];
  if (next !== undefined) select(next);
}

/** Sessions that wait for the user, in the order of their last use. */
const waiting = ({ workbench }: CommandContext) =>
  workbench.list.value.sessions.filter(({ pending_interaction: pending }) => pending !== 'none');

function openNextWaiting(context: CommandContext) {
  const all = waiting(context);
  const at = all.findIndex(({ id }) => id === context.workbench.selected.value);
  const next = all[(at + 1) % all.length];
  if (next) context.workbench.select(next.id);
}

/** Closes the part of the page that has the focus, or that covers another one; undefined if there is none. */
function innermost({ workbench, pane }: CommandContext): (() => void) | undefined {
  const { single } = workbench.layout;
  const region = regionOf(document.activeElement);
  if (single.value !== undefined) return () => (single.value = undefined);
  if (!pane) return undefined;
  const back = (close: () => void) => () => {
    close();
    requestAnimationFrame(() => focusRegion('prompt', paneElement(pane.id)));
  };
  if (region === 'drawer' && pane.drawer.value !== undefined) return back(() => (pane.drawer.value = undefined));
  const isPanelFocused = region === 'panel' || region === undefined;
  if (isPanelFocused && pane.panel.value !== undefined) return back(() => (pane.panel.value = undefined));
  return undefined;
}

const paneElement = (id: string) => document.querySelector(`[data-pane="${id}"]`) ?? document;
const hasSession = ({ session }: CommandContext) => session !== undefined;

export const page: Feature = {
  commands: [
    {
      id: 'page.palette',
      title: 'shell.palette',
      icon: 'search',
      keys: 'Mod+K',
      run: ({ workbench }) => void (workbench.palette.value = { text: '' }),
    },
    {
      id: 'page.keys',
      title: 'shell.showKeys',
      icon: 'keyboard',
      keys: '?',
      run: ({ workbench }) => void (workbench.dialog.value = 'keys'),
    },
    {
      id: 'session.new',
      title: 'shell.newSession',
      icon: 'plus',
      keys: 'Alt+N',
      run: ({ workbench }) => void (workbench.dialog.value = 'new-session'),
    },
    {
      id: 'page.sidebar',
      title: 'shell.toggleSidebar',
      icon: 'panel-left',
      keys: 'Mod+B',
      run({ workbench: { layout, navigation } }) {
        const isCovered = layout.single.value !== undefined;
        layout.single.value = undefined;
        if (layout.isPhone.value) navigation.show('sessions');
        else layout.sidebar.isOpen = isCovered || !layout.sidebar.isOpen;
      },
    },
    {
      id: 'session.find',
      title: 'shell.find',
      icon: 'search',
      inSessionMenu: true,
      when: hasSession,
      run: ({ workbench }) => void (workbench.palette.value = { text: '', scope: 'session' }),
    },
    {
      id: 'pane.split',
      title: 'shell.openAnother',
      icon: 'columns-2',
      keys: 'Mod+\\',
      inSessionMenu: true,
      when: ({ workbench }) => workbench.selected.value !== undefined && !workbench.layout.isPhone.value,
      run: ({ workbench }) => void (workbench.palette.value = { text: '@', isBeside: true }),
    },
    {
      id: 'pane.close',
      title: 'shell.closePane',
      icon: 'x',
      inSessionMenu: true,
      when: hasSession,
      run: ({ workbench }) => workbench.select(undefined),
    },
    {
      id: 'pane.alone',
      title: 'shell.showAlone',
      icon: 'maximize-2',
      inSessionMenu: true,
      when: ({ workbench: { layout }, pane }) => !layout.isPhone.value && pane !== undefined,
      run({ workbench }) {
        const { single } = workbench.layout;
        const region = regionOf(document.activeElement);
        const focused = region === 'panel' || region === 'drawer' ? region : 'conversation';
        single.value = single.value === undefined ? focused : undefined;
      },
    },
    {
      id: 'session.next',
      title: 'shell.nextSession',
      keys: 'Mod+Alt+↓',
      repeats: true,
      run: (context) => moveInList(context, 1),
    },
    {
      id: 'session.before',
      title: 'shell.previousSession',
      keys: 'Mod+Alt+↑',
      repeats: true,
      run: (context) => moveInList(context, -1),
    },
    {
      id: 'session.last',
      title: 'shell.lastSession',
      keys: 'Alt+Backquote',
      when: ({ workbench }) => workbench.panes.previous.value !== undefined,
      run: ({ workbench }) => workbench.select(workbench.panes.previous.value),
    },
    {
      id: 'session.nextWaiting',
      title: 'shell.nextWaiting',
      icon: 'bell',
      keys: 'Alt+W',
      when: (context) => waiting(context).length > 0,
      run: openNextWaiting,
    },
    {
      id: 'turn.stop',
      title: 'shell.stop',
      icon: 'circle-stop',
      keys: 'Mod+.',
      when: ({ session }) => session !== undefined && runningTurn(session.view.value.main) !== undefined,
      async run({ workbench, session }) {
        if (session) await workbench.client.rest.abort(session.id);
      },
    },
    { id: 'page.nextRegion', title: 'shell.nextRegion', keys: 'F6', run: () => cycleRegions(1) },
    { id: 'page.previousRegion', title: 'shell.previousRegion', keys: 'Shift+F6', run: () => cycleRegions(-1) },
    {
      id: 'page.closeInnermost',
      title: 'shell.closeInnermost',
      keys: 'Esc',
      when: (context) => innermost(context) !== undefined,
      run: (context) => innermost(context)?.(),
    },
  ],
};
