/** The image that the viewer displays. */
import { shallowRef } from 'vue';

export const shownImage = shallowRef<{ url: string; name: string }>();

export function showImage(url: string, name: string): void {
  shownImage.value = { url, name };
}
