/** Draws a growing text: the worker parses it, the page sanitizes and inserts only the changed parts. */
import { createBlockReader, type BlockChange, type BlockReader } from './markdown-blocks.ts';
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

interface Listener {
  onChange(change: BlockChange): void;
  /** The worker sends nothing more. */
  onFailure(): void;
}

let worker: Worker | undefined;
let lastId = 0;
const listeners = new Map<number, Listener>();

/** The next text starts another worker, whose code can be there again. */
function dropWorker(event: Event): void {
  worker?.terminate();
  worker = undefined;
  // Without a message the code was not loaded: reported like other missing code of the page.
  if (!(event instanceof ErrorEvent)) window.dispatchEvent(new Event('vite:preloadError', { cancelable: true }));
  // In separate microtasks: a text that fails in the page, too, leaves the others drawn.
  for (const { onFailure } of listeners.values()) queueMicrotask(onFailure);
}

function send(request: MarkdownRequest): void {
  if (!worker) {
    worker = new Worker(new URL('./markdown-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<MarkdownReply>) =>
      listeners.get(data.id)?.onChange(data.change),
    );
    worker.addEventListener('error', dropWorker);
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
  /** Parses in the page after the worker has failed. */
  let reader: BlockReader | undefined;

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
    if (reader) onChange(reader.read(text));
    else send({ id, from, text: text.slice(from) });
  }

  function onChange(change: BlockChange) {
    whenNotTyping(() => {
      if (!listeners.has(id)) return;
      apply(container, drawn, change, onDrawn);
      isBusy = false;
      if (isLast && !wanted) onDone();
      next();
    });
  }

  function onFailure() {
    if (!listeners.has(id)) return;
    reader ??= createBlockReader();
    if (!isBusy) return;
    wanted ??= { text: sent, isDone: isLast };
    isBusy = false;
    next();
  }

  listeners.set(id, { onChange, onFailure });

  return {
    update(text, isDone) {
      wanted = { text, isDone };
      next();
    },
    close() {
      clearTimeout(timer);
      listeners.delete(id);
      if (!reader) send({ id, from: 0 });
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
