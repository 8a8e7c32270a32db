/** Code blocks of Markdown: copying, wrapping, and folding of long ones. */
import { t } from '../messages/messages.ts';

/** Longer code is folded. */
const FOLDED_LINES = 400;
/** How long the success of copying is displayed, in ms. */
const COPIED_MS = 1500;

/** Folds the long blocks of a complete text. */
export function foldCode(root: Element): void {
  for (const block of root.querySelectorAll('.code:not([data-folded])')) {
    const lines = block.querySelector('pre')?.textContent.trimEnd().split('\n').length ?? 0;
    if (lines <= FOLDED_LINES || block.querySelector('[data-unfold]')) continue;
    block.setAttribute('data-folded', '');
    const button = document.createElement('button');
    button.type = 'button';
    button.dataset['unfold'] = '';
    button.textContent = t('conversation.showLines', { count: lines });
    block.append(button);
  }
}

/** Handles a click in Markdown text; returns whether it was on a button of a code block. */
export function pressedInCode(target: Element): boolean {
  const block = target.closest('.code');
  const button = target.closest('button');
  const code = block?.querySelector('pre');
  if (!block || !button || !code) return false;
  if (button.matches('[data-copy]')) void copy(button, code.textContent);
  else if (button.matches('[data-wrap]')) {
    const wraps = code.toggleAttribute('data-wraps');
    button.setAttribute('aria-pressed', String(wraps));
  } else if (button.matches('[data-unfold]')) {
    block.removeAttribute('data-folded');
    button.remove();
  } else return false;
  return true;
}

async function copy(button: Element, code: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(code);
  } catch {
    // The browser has refused: the text can be selected.
    return;
  }
  button.textContent = t('conversation.copied');
  setTimeout(() => (button.textContent = t('conversation.copy')), COPIED_MS);
}
