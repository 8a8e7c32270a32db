/** The English texts of the page, by key. A text with parameters is a function of them; it returns plain text. */
import { common } from './en/common.ts';
import { list } from './en/list.ts';
import { palette } from './en/palette.ts';
import { shell } from './en/shell.ts';
import { start } from './en/start.ts';
import { ui } from './en/ui.ts';

export const en = { ...common, ...list, ...palette, ...shell, ...start, ...ui };
