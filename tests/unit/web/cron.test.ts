/** The calls that schedule prompts, as the page draws them. */
import { expect, it } from 'vitest';
import { cronViews } from '../../../web/features/cron/views.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';

it('displays time and prompt, for arguments of any type', () => {
  const { ofCall } = createToolViews([cronViews]);
  const of = (name: string, input: unknown) => ofCall({ name, input, output: undefined });
  const args = { cron: '5 * * * *', prompt: 'Look\nat it', recurring: false };
  expect(of('CronCreate', args)).toMatchObject({
    subject: '5 * * * *: Look …',
    body: { kind: 'json', value: args },
  });
  expect(of('CronCreate', { cron: 7 })).toMatchObject({ subject: '' });
  expect(of('CronCreate', undefined).body).toBeUndefined();
  expect(of('CronList', {})).toEqual({ verb: 'Scheduled', subject: '', effect: 'reads' });
  expect(of('CronDelete', { id: 'x' }).subject).toBe('x');
});
