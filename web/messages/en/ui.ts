export const ui = {
  'ui.notification': 'Notification',
  'ui.notifications': 'Notifications, {hotkey}',
} as const;
