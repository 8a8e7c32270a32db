/** Commands of the conversation. */
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
    { id: 'conversation.view', title: 'conversation.viewNext', icon: 'eye', keys: 'Mod+O', run: nextViewMode },
  ],
};
