/** The server's token, stored for the tab or, at the user's request, for the browser. */
import { shallowRef } from 'vue';

/** The subset of the browser's storage that is used. */
export interface TokenStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

const KEY = 'service-code.token';

export type TokenStore = ReturnType<typeof createTokenStore>;

/** `base` separates the servers of one origin. */
export function createTokenStore(base: string, { tab, device }: { tab: TokenStorage; device: TokenStorage }) {
  const key = KEY + base;
  const staysSignedIn = shallowRef(device.getItem(key) !== null);
  return {
    /** Whether the token outlives the tab. */
    staysSignedIn,
    read: (): string | undefined => tab.getItem(key) ?? device.getItem(key) ?? undefined,
    /** Stores a token that the server has not accepted yet: any link may contain one. */
    saveUntested(token: string): void {
      tab.setItem(key, token);
    },
    /** `stay`: for the browser, not only for the tab; default: as before. */
    save(token: string, stay = staysSignedIn.value): void {
      staysSignedIn.value = stay;
      tab.setItem(key, token);
      if (stay) device.setItem(key, token);
      else device.removeItem(key);
    },
    /** Accepts a change by another tab. */
    changed(event: { key: string | null; newValue: string | null }): void {
      if (event.key === key) staysSignedIn.value = event.newValue !== null;
    },
  };
}
