/** Images of the project in Markdown text, read from the server: an address would lack the token. */

export interface ProjectImages {
  /** Reads a file of the project. */
  read(path: string): Promise<Blob>;
  /** Called when the text is removed. */
  close: (() => void)[];
}

/** Replaces the labels of images by the images; those that are no images keep their label. */
export function drawImages(root: Element, { read, close }: ProjectImages): void {
  for (const label of root.querySelectorAll<HTMLElement>('[data-image]:not([data-read])')) {
    label.dataset['read'] = '';
    const path = label.dataset['image'] ?? '';
    void read(path).then(
      (blob) => {
        if (!blob.type.startsWith('image/') || !label.isConnected) return;
        const image = document.createElement('img');
        image.src = URL.createObjectURL(blob);
        image.alt = label.textContent;
        close.push(() => URL.revokeObjectURL(image.src));
        const button = document.createElement('button');
        button.type = 'button';
        button.className = 'picture';
        button.append(image);
        label.replaceChildren(button);
      },
      () => label.setAttribute('data-missing', ''),
    );
  }
}
