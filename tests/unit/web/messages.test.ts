import { expect, it } from 'vitest';
import { message, t, textOf } from '../../../web/messages/messages.ts';

it('a text is drawn from its key', () => {
  expect(t('common.close')).toBe('Close');
  expect(textOf(message('common.close'))).toBe('Close');
  expect(t('conversation.steps', { count: 2 })).toBe('2 steps');
});
