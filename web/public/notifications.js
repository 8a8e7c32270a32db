// Service worker of the notifications: it has no fetch handler, so pages and requests never pass through it.
// A click on a notification shows the session that waits, in an open tab of this server's page if there is one.
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data));
});

async function show({ sessionId, url }) {
  const { scope } = self.registration;
  const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const own = windows.filter((client) => client.url.startsWith(scope));
  const client = own.find(({ focused }) => focused) ?? own[0];
  if (!client) return self.clients.openWindow(url);
  client.postMessage({ type: 'service-code.show-session', sessionId });
  return client.focus();
}
