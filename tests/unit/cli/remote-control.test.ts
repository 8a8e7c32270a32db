import { expect, it, vi } from 'vitest';
import type { App } from '#server/app/app.ts';
import { startRemoteControl } from '#server/cli/remote-control.ts';

it('prints the text of a relay as one line without control characters', async () => {
  const lines: string[] = [];
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  const start = () => Promise.reject(new Error('quota\n\u001b]0;owned\u0007\u009b2J\u202eé full'));
  const app: object = { remote: async () => ({ start }) };
  try {
    await startRemoteControl(app as App, { hasBanner: true });
  } finally {
    write.mockRestore();
  }
  expect(lines).toEqual(['Remote control: quota ]0;owned 2J é full\n']);
});
