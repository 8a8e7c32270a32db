/** Words to avoid in comments, titles of tests and documents, with their replacements. */

/** Anywhere in the text; matched as whole words, in any case. */
export const WORDS = [
  { words: 'told|tells?', instead: 'sent, published, returned, reported, rendered, recorded' },
  { words: 'told apart|tells? apart', instead: 'distinguished' },
  { words: 'behind', instead: 'after' },
  { words: 'beside', instead: 'in addition to, next to, concurrently with' },
  { words: 'nobody', instead: 'no caller, no process, no client' },
  { words: 'whoever|somebody', instead: 'the caller, the writer, the client' },
  { words: 'anew', instead: 'again, from scratch' },
  { words: 'under way', instead: 'running, in progress, pending' },
  { words: 'lets? go', instead: 'released, garbage-collected' },
  { words: 'goes on|gone on', instead: 'continues, resumed from' },
  { words: 'stands? in', instead: 'is stored in, is part of' },
  { words: 'stands? on', instead: 'is stored in, is built on' },
  { words: 'stands? for', instead: 'represents, replaces, is a placeholder for' },
  { words: 'by itself', instead: 'automatically, without a request' },
  { words: 'at once', instead: 'immediately; in one transaction; at the same time' },
  { words: 'as it was', instead: 'unchanged' },
  { words: 'in one go', instead: 'atomically, in one transaction' },
  { words: 'hand to hand', instead: 'transferred directly' },
  { words: 'calls? off|called off', instead: 'cancel' },
  { words: 'hears? of', instead: 'receives, is notified of' },
  { words: 'wish(es|ed)?', instead: 'request, preference' },
];

/** Openings of a docstring, which should name its subject first. */
export const OPENINGS = [{ words: 'What|Of|Those|As', instead: 'the noun: the rows that …, bytes of …, returns …' }];

/** Files, by the end of their path, that use a word in its own sense. */
export const EXCEPTIONS = {
  // git's ahead and behind.
  behind: ['server/git/branch.ts'],
};
