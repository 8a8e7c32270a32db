/** Changes of a session that a person confirms in a dialog. */
export type SessionAction =
  | {
      /** `edit`: taken back, then edited; `copyBefore`: in a copy that ends before the prompt. */
      kind: 'takeBack' | 'edit' | 'copyBefore';
      /** Key of the prompt's row. */
      key: string;
      text: string;
      attachmentIds: readonly string[];
    }
  | { kind: 'copy' | 'child' | 'compact' };
