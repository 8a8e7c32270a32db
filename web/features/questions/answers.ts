/** Converts the selections of a card to the answers that are sent. */
import type { Question } from './open.ts';
import type { Answer } from './requests.ts';

export type Item = Question['questions'][number];

/** The selection for one question. */
export interface Choice {
  /** Option ids, in any order. */
  options: readonly string[];
  /** Whether the free text is selected, and the text, which is retained while it is not. */
  other: boolean;
  text: string;
  /** Words of the person that accompany the selected option. */
  note: string;
}

export const noChoice: Choice = { options: [], other: false, text: '', note: '' };

/** Returns the choice after a click on an option: replaces it, or toggles it for a multiple choice. */
export function withOption(item: Item, choice: Choice, id: string): Choice {
  if (!item.multi_select) return { ...choice, options: [id], other: false };
  const picked = choice.options.includes(id);
  return { ...choice, options: picked ? choice.options.filter((other) => other !== id) : [...choice.options, id] };
}

/** A choice with the free text switched on or off. */
export function withOther(item: Item, choice: Choice, other: boolean): Choice {
  return { ...choice, other, options: other && !item.multi_select ? [] : choice.options };
}

/** Selects the option with a number, from 1 on; the number after the last one selects the free text. */
export function withNumber(item: Item, choice: Choice, number: number): Choice {
  const option = item.options[number - 1];
  if (option) return withOption(item, choice, option.id);
  const isOther = number === item.options.length + 1 && item.allow_other !== false;
  return isOther ? withOther(item, choice, !item.multi_select || !choice.other) : choice;
}

/** The item that number keys answer: the first without a selection, else the last. */
export const itemForKeys = (items: readonly Item[], choices: Readonly<Record<string, Choice>>): Item | undefined =>
  items.find(({ id }) => {
    const { options, other } = choices[id] ?? noChoice;
    return options.length === 0 && !other;
  }) ?? items.at(-1);

/**
 * Options in the displayed order; a blank text is ignored. The model receives labels and texts only, so a note is sent as
 * the text of a multiple answer, which the server accepts for every question.
 */
export function answerOf(item: Item, choice: Choice): Answer {
  const option_ids = item.options.map(({ id }) => id).filter((id) => choice.options.includes(id));
  const text = choice.other ? choice.text.trim() : '';
  const note = choice.note.trim();
  if (item.multi_select) {
    if (text) return { kind: 'multi_with_other', option_ids, other_text: text };
    return option_ids.length ? { kind: 'multi', option_ids } : { kind: 'skipped' };
  }
  if (text) return { kind: 'other', text };
  const [option_id] = option_ids;
  if (note && option_id !== undefined) return { kind: 'multi_with_other', option_ids, other_text: note };
  return option_id === undefined ? { kind: 'skipped' } : { kind: 'single', option_id };
}

/** Answers by item id; an item without a selection is skipped. */
export function answersOf(items: readonly Item[], choices: Readonly<Record<string, Choice>>): Record<string, Answer> {
  return Object.fromEntries(items.map((item) => [item.id, answerOf(item, choices[item.id] ?? noChoice)]));
}
