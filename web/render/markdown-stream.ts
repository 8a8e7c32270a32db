/** Draws a growing text: the worker parses it, the page sanitizes and inserts only the changed parts. */
import type { BlockChange } from './markdown-blocks.ts';
import type { MarkdownReply, MarkdownRequest } from './markdown-worker.ts';
import { whenNotTyping } from '../keys/typing.ts';
import { safeFragment } from './markdown.ts';

/** Minimum time between two drawings of the same text. */
const DRAW_MS = 50;

interface Drawn {
  root: HTMLElement;
  /** Contains the parts. */
  host: Element;
}

let worker: Worker | undefined;
let lastId = 0;
const listeners = new Map<number, (change: BlockChange) => void>();

function send(request: MarkdownRequest): void {
  if (!worker) {
    worker = new Worker(new URL('./markdown-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<MarkdownReply>) =>
      listeners.get(data.id)?.(data.change),
    );
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
  worker.postMessage(request);
}

export interface MarkdownStream {
  /** `isDone`: the text is complete. */
  update(text: string, isDone: boolean): void;
  close(): void;
}

/**
 * Draws into `container`. `onDrawn` receives each element with new content, before it is painted; `onDone` is called
 * after the complete text is drawn.
 */
export function streamMarkdown(
  container: HTMLElement,
  { onDrawn, onDone }: { onDrawn(element: Element): void; onDone(): void },
): MarkdownStream {
  const id = ++lastId;
  const drawn: Drawn[] = [];
  let wanted: { text: string; isDone: boolean } | undefined;
  let sent = '';
  let isBusy = false;
  let isLast = false;
  let sentAt = -DRAW_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function next() {
    clearTimeout(timer);
    if (!wanted || isBusy) return;
    const { text, isDone } = wanted;
    const wait = isDone ? 0 : sentAt + DRAW_MS - performance.now();
    if (wait > 0) return void (timer = setTimeout(next, wait));
    wanted = undefined;
    isBusy = true;
    isLast = isDone;
    sentAt = performance.now();
    const from = text.startsWith(sent) ? sent.length : 0;
    sent = text;
    send({ id, from, text: text.slice(from) });
  }

  listeners.set(id, (change) =>
    whenNotTyping(() => {
      if (!listeners.has(id)) return;
      apply(container, drawn, change, onDrawn);
      isBusy = false;
      if (isLast && !wanted) onDone();
      next();
    }),
  );

  return {
    update(text, isDone) {
      wanted = { text, isDone };
      next();
    },
    close() {
      clearTimeout(timer);
      listeners.delete(id);
      send({ id, from: 0 });
    },
  };
}

function apply(
  container: HTMLElement,
  drawn: Drawn[],
  { kept, keptParts, blocks }: BlockChange,
  onDrawn: (element: Element) => void,
): void {
  const patched = keptParts === undefined ? kept : kept + 1;
  for (const { root } of drawn.splice(patched)) root.remove();
  for (const [at, { open, parts, close }] of blocks.entries()) {
    const fragment = safeFragment(open + parts.join('') + close);
    const former = at === 0 && keptParts !== undefined ? drawn[kept] : undefined;
    if (former) {
      while (former.host.children.length > (keptParts ?? 0)) former.host.lastElementChild?.remove();
      const added = [...(fragment.querySelector('[data-parts]')?.children ?? [])];
      former.host.append(...added);
      added.forEach(onDrawn);
      continue;
    }
    const root = document.createElement('div');
    root.append(fragment);
    drawn.push({ root, host: root.querySelector('[data-parts]') ?? root });
    container.append(root);
    onDrawn(root);
  }
}
