/** The storage of unsent prompts and their files; `draft-database.ts` implements it. */

export interface StoredFile {
  /** Unique within the database. */
  id: string;
  name: string;
  content: Blob;
}

export interface StoredDraft {
  text: string;
  files: readonly StoredFile[];
}

/** The stored draft of one session. */
export interface DraftSlot {
  read(): Promise<StoredDraft | undefined>;
  /** An empty draft is removed. */
  write(draft: StoredDraft): Promise<void>;
  /** Stores the text immediately, until a `write` has stored it: the browser aborts one when the page is left. */
  keepText(text: string): void;
}

export interface DraftStorage {
  slot(sessionId: string): DraftSlot;
  /** Removes the drafts that were last changed before a time, in ms since the epoch. */
  removeBefore(time: number): Promise<void>;
}
