/** The focus of a dialog that opens: its element with `autofocus`, else its first field, else its first element. */
export function focusFirst(event: Event): void {
  if (!(event.target instanceof HTMLElement)) return;
  const element = event.target.querySelector('[autofocus], :is(input, textarea):enabled');
  if (!(element instanceof HTMLElement)) return;
  event.preventDefault();
  element.focus();
}
