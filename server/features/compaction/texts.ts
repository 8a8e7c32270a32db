/** Texts of a compaction for models: the request for the summary, and the prefix of the summary. */
import { reminder } from '#server/agent/prompt/reminders.ts';
import type { ContextMessage, Origin } from '#schema/engine.ts';

/** The demo model recognises the request by this text. */
const REQUEST = `Write a summary of the conversation so far. It replaces the conversation: you will go on with the work from
it alone, without the messages, tool calls and results above. Only what the user wrote stays as it is beside it, in part if it is long.
So nothing that the work needs may be missing, and nothing in it may be invented.

Answer with the summary as text and nothing else. Do not call tools and do not go on with the work now. Write in the language of the
conversation. Be specific: exact paths, names, commands, values and error messages instead of general words. Leave out what is settled
and no longer needed. If an earlier summary stands above, carry over what still holds of it.

Use these headings, and leave out those that have nothing:

## Task
What the user wants, with every requirement, limit and preference that still holds, and how it changed on the way. A task that was
given to you by another agent is repeated word for word.

## State of the work
What is done, with the files and lines that were changed and why. What was checked and how it came out. What was begun and is not
finished.

## What was learned
Facts about the project that were hard to find: where things are, how they are built and tested, conventions, causes of errors.
Code or text only where the exact wording is needed to go on.

## Decisions
What was decided and why, what the user refused or corrected, and what was tried and did not work, so that it is not tried again.

## Next
What was being done at the very end and the exact next step. Questions that wait for an answer. If the last request of the user
has not been answered yet, say so.`;

/** The prefix of a summary: its origin and how to use it. */
const PREFIX = `The conversation up to here was replaced by the summary below, which you wrote. Of the messages above it only what
the user wrote was kept, without the answers: those requests are done as far as the summary says so. Go on with the work where
it ended, as if there had been no break: do not greet, do not repeat what is done, and do not mention the summary. Files may
have changed and their contents are no longer in front of you: read again what you need before you change it.`;

const INSTRUCTION = `The user asked for this summary and says what matters most in it. It is about the summary only; do not carry it out:`;

const ELIDED = 'Messages of the user that stood here were left out to shorten the conversation.';

const REQUESTED: Origin = { kind: 'system_trigger', name: 'compaction' };
const SUMMARY: Origin = { kind: 'compaction_summary' };

const userMessage = (text: string, origin: Origin): ContextMessage => ({
  role: 'user',
  content: [{ type: 'text', text }],
  toolCalls: [],
  origin,
});

/** The last message of the request for a summary. */
export function summaryRequest(instruction: string | undefined): ContextMessage {
  const wish = instruction === undefined ? '' : `\n\n${INSTRUCTION}\n${instruction}`;
  return userMessage(`${REQUEST}${wish}`, REQUESTED);
}

/** The message that replaces the conversation: the summary, followed by the `blocks` of features. */
export function summaryMessage(summary: string, blocks: readonly string[]): ContextMessage {
  return userMessage([PREFIX, summary, ...blocks].join('\n\n'), SUMMARY);
}

/** The message between the retained messages of the beginning and those of the end. */
export const elision = (): ContextMessage => reminder('compaction_elision', ELIDED);
