/** Commands of the conversation and of its session. */
import { moveTurn } from '../../conversation/turn-keys.ts';
import { nextViewMode } from '../../stores/view-mode.ts';
import type { Command, CommandContext, Feature } from '../feature.ts';
import { exportSession } from './export.ts';

const hasSession = ({ session }: CommandContext) => session !== undefined;

/** Confirmed in a dialog of the session. */
const confirmed = (kind: 'copy' | 'child' | 'compact', title: Command['title'], icon: string): Command => ({
  id: `session.${kind}`,
  title,
  icon,
  inSessionMenu: true,
  when: hasSession,
  run: ({ session }) => void (session && (session.asked.value = { kind })),
});

export const conversation: Feature = {
  commands: [
    confirmed('copy', 'conversation.continueInCopy', 'git-fork'),
    confirmed('child', 'conversation.newChild', 'split'),
    confirmed('compact', 'conversation.compactSession', 'layers'),
    {
      id: 'session.export',
      title: 'conversation.export',
      icon: 'download',
      inSessionMenu: true,
      when: hasSession,
      run: ({ workbench, session }) => session && exportSession(workbench.client.rest, session.id),
    },
    {
      id: 'conversation.outline',
      title: 'conversation.outline',
      icon: 'list',
      inSessionMenu: true,
      when: hasSession,
      run: ({ session }) => void (session && (session.tool.value = 'outline')),
    },
    {
      id: 'conversation.find',
      title: 'conversation.find',
      icon: 'search',
      keys: 'Mod+Shift+F',
      inSessionMenu: true,
      when: hasSession,
      run: ({ session }) => void (session && (session.tool.value = 'find')),
    },
    {
      id: 'conversation.nextTurn',
      title: 'conversation.nextTurn',
      keys: 'J',
      scope: 'conversation',
      repeats: true,
      when: hasSession,
      run: ({ session }) => moveTurn(session, 1),
    },
    {
      id: 'conversation.previousTurn',
      title: 'conversation.previousTurn',
      keys: 'K',
      scope: 'conversation',
      repeats: true,
      when: hasSession,
      run: ({ session }) => moveTurn(session, -1),
    },
    { id: 'conversation.view', title: 'conversation.viewNext', icon: 'eye', keys: 'Ctrl+O', run: nextViewMode },
  ],
};
