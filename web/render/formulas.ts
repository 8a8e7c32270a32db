/** Draws formulas with KaTeX, which is loaded with the first one. */
type Katex = typeof import('katex').default;

let katex: Katex | undefined;
let loading: Promise<void> | undefined;

async function load(): Promise<void> {
  const [{ default: loaded }] = await Promise.all([import('katex'), import('katex/dist/katex.min.css')]);
  katex = loaded;
}

function draw(element: HTMLElement, { render }: Katex): void {
  const { tex = '' } = element.dataset;
  // Neither links nor classes nor images, and sizes that fit into the line; its place is clipped by the style sheet.
  const options = { displayMode: element.classList.contains('displayed'), throwOnError: false, trust: false };
  render(tex, element, { ...options, maxSize: 20, maxExpand: 200, strict: 'ignore' });
  element.dataset['drawn'] = '';
}

/** Draws the formulas in an element: immediately, except before KaTeX is loaded. */
export function drawFormulas(root: Element): void {
  const elements = [...root.querySelectorAll<HTMLElement>('[data-tex]:not([data-drawn])')];
  if (root instanceof HTMLElement && root.matches('[data-tex]:not([data-drawn])')) elements.push(root);
  if (elements.length === 0) return;
  if (katex) for (const element of elements) draw(element, katex);
  // If it cannot be loaded, the source stays.
  else
    void (loading ??= load()).then(
      () => drawFormulas(root),
      () => (loading = undefined),
    );
}
