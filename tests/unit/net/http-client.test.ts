import { expect, it, onTestFinished } from 'vitest';
import { createHttpClient } from '#server/net/http-client.ts';

it('an error for a header that cannot be sent does not quote its value', async () => {
  const { fetch, close } = createHttpClient();
  onTestFinished(close);
  const sent = fetch('http://127.0.0.1:9/', { headers: { authorization: 'Bearer secret\nx: y' } });
  await expect(sent).rejects.toThrow(/^a header has a character that is not allowed$/);
});
