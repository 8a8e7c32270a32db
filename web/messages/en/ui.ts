export const ui = {
  'ui.notification': 'Notification',
  'ui.notifications': 'Notifications, {hotkey}',
  'ui.tooltip': 'Tooltip',
} as const;
