/** The address of the page's root, and names in the browser's storage: one origin may serve the pages of several servers. */
import { pageAddress, type PageAddress } from '../state/page-address.ts';

let root: PageAddress | undefined;

/** The address that the document declares; constant while the page is open. */
export function pageRoot(): PageAddress {
  const declared = document.querySelector<HTMLMetaElement>('meta[name="service-base"]')?.content;
  root ??= pageAddress(location.href, declared);
  return root;
}

/** The name of a storage key, channel, database, lock or notification tag of this server's page. */
export const scopedName = (name: string): string => `service-code.${name}${pageRoot().base}`;
