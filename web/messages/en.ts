/** The English texts of the page, by key. A text with parameters is a function of them; it returns plain text. */
import { common } from './en/common.ts';
import { ui } from './en/ui.ts';

export const en = { ...common, ...ui };
