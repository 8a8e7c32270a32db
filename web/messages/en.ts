/** The English texts of the page, by key. A text with parameters is a function of them; it returns plain text. */
import { common } from './en/common.ts';
import { conversation } from './en/conversation.ts';
import { drafts } from './en/drafts.ts';
import { errors } from './en/errors.ts';
import { list } from './en/list.ts';
import { palette } from './en/palette.ts';
import { review } from './en/review.ts';
import { shell } from './en/shell.ts';
import { start } from './en/start.ts';
import { token } from './en/token.ts';
import { ui } from './en/ui.ts';

export const en = {
  ...common,
  ...conversation,
  ...drafts,
  ...errors,
  ...list,
  ...palette,
  ...review,
  ...shell,
  ...start,
  ...token,
  ...ui,
};
