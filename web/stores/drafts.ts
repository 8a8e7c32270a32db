/** The unsent prompts of the page: text and files, which survive a reload and a server that is away. */
import { effectScope, ref, watch, type Ref } from 'vue';
import { coalesced } from '@service-code/client';
import { createAttachments, type AttachmentDeps, type Attachments } from './attachments.ts';
import type { DraftStorage } from './draft-storage.ts';

/** Drafts that were not changed for this long are removed. */
const KEPT_MS = 30 * 86_400_000;

/** Every change is stored. */
export interface Draft {
  text: Ref<string>;
  attachments: Attachments;
  /** Resolves when the stored draft was read; until then the draft is empty. */
  restored: Promise<void>;
  /** Prepends a text. */
  takeBack(text: string): void;
}

export type Drafts = ReturnType<typeof createDrafts>;

/** Where the browser has no database, drafts last as long as the page. */
export function createDrafts(deps: AttachmentDeps, storage: DraftStorage) {
  const drafts = new Map<string, Draft>();
  storage.removeBefore(Date.now() - KEPT_MS).catch(() => undefined);

  function createDraft(sessionId: string): Draft {
    const slot = storage.slot(sessionId);
    const text = ref('');
    const attachments = createAttachments(deps);
    const takeBack = (before: string) => {
      text.value = [before, text.value].filter((part) => part.trim() !== '').join('\n\n');
    };
    const write = coalesced(() =>
      slot.write({ text: text.value, files: attachments.list.value.map(({ file }) => file) }).catch(() => undefined),
    );
    const save = () => {
      slot.keepText(text.value);
      void write();
    };

    async function restore() {
      const stored = await slot.read().catch(() => undefined);
      // A person may have started typing.
      const isTouched = text.value !== '' || attachments.list.value.length > 0;
      if (stored) {
        takeBack(stored.text);
        attachments.restore(stored.files);
      }
      // The progress of uploads is not stored.
      const fileIds = () => attachments.list.value.map(({ file }) => file.id).join(' ');
      // The draft outlives the component that opened it.
      effectScope(true).run(() => watch([text, fileIds], save, { flush: 'sync' }));
      if (isTouched) save();
    }

    return {
      text,
      attachments,
      restored: restore(),
      takeBack,
    };
  }

  return {
    /** The draft of a session; `sessionId` may be another name, for a prompt that has no session yet. */
    of(sessionId: string): Draft {
      const draft = drafts.get(sessionId) ?? createDraft(sessionId);
      drafts.set(sessionId, draft);
      return draft;
    },
  };
}
