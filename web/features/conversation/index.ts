/** Commands of the conversation. */
import { moveTurn } from '../../conversation/turn-keys.ts';
import { nextViewMode } from '../../stores/view-mode.ts';
import type { Feature } from '../feature.ts';

export const conversation: Feature = {
  commands: [
    {
      id: 'conversation.outline',
      title: 'conversation.outline',
      icon: 'list',
      inSessionMenu: true,
      when: ({ session }) => session !== undefined,
      run: ({ session }) => void (session && (session.tool.value = 'outline')),
    },
    {
      id: 'conversation.find',
      title: 'conversation.find',
      icon: 'search',
      keys: 'Mod+Shift+F',
      inSessionMenu: true,
      when: ({ session }) => session !== undefined,
      run: ({ session }) => void (session && (session.tool.value = 'find')),
    },
    {
      id: 'conversation.nextTurn',
      title: 'conversation.nextTurn',
      keys: 'J',
      scope: 'conversation',
      repeats: true,
      when: ({ session }) => session !== undefined,
      run: ({ session }) => moveTurn(session, 1),
    },
    {
      id: 'conversation.previousTurn',
      title: 'conversation.previousTurn',
      keys: 'K',
      scope: 'conversation',
      repeats: true,
      when: ({ session }) => session !== undefined,
      run: ({ session }) => moveTurn(session, -1),
    },
    { id: 'conversation.view', title: 'conversation.viewNext', icon: 'eye', keys: 'Mod+O', run: nextViewMode },
  ],
};
