/** The text that a title is generated from: lines of prompts and answers of the main agent. */
import { isUndoAnchor } from '#server/journal/projections/context.ts';
import type { AgentPrompts } from '#server/journal/projections/prompts.ts';
import { cutText } from '#server/text/truncate.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Origin } from '#schema/engine.ts';
import type { ContentPart } from '#schema/rest/content.ts';
import type { Message } from '#schema/rest/message.ts';
import type { TitleSource } from '#schema/rest/title.ts';
import { metadataText } from '../index/prompt-text.ts';
import { placesBetween, type MessageSource } from '../reading/message-page.ts';

const MAX_PROMPTS = 3;
const PROMPT_CHARS = 400;
const PROMPTS_CHARS = 1000;
const ANSWER_CHARS = 300;
const DIGEST_LINE_CHARS = 200;
const DIGEST_CHARS = 3000;
const OMITTED = '...';
/** Messages that are read from the journal at a time. */
const PORTION = 50;

/** A prompt in natural language, an answer with text, or another message that opens a turn. */
interface Utterance {
  kind: 'prompt' | 'answer' | 'command';
  id: string;
  /** One line, secrets redacted; may be empty for a prompt of media only. */
  text: string;
}

/** Returns the input for the title of a session; empty if there is none. */
export async function titleInput(source: MessageSource, from: TitleSource): Promise<string> {
  switch (from) {
    case 'user_prompts':
      return firstPrompts(source);
    case 'first_turn':
      return firstTurn(source);
    case 'digest':
      return digest(source);
  }
}

const userLine = (text: string, maxChars: number) => `user: ${cutText(text, maxChars)}`;
const assistantLine = (text: string, maxChars: number) => `assistant: ${cutText(text, maxChars)}`;

async function firstPrompts(source: MessageSource): Promise<string> {
  const lines: string[] = [];
  const seen = new Set<string>();
  const add = (id: string, text: string) => {
    if (text !== '' && !seen.has(id) && lines.length < MAX_PROMPTS) lines.push(userLine(text, PROMPT_CHARS));
    seen.add(id);
  };
  for await (const { kind, id, text } of utterances(source, historyOf(source), ['user'])) {
    if (kind === 'prompt') add(id, text);
    if (lines.length === MAX_PROMPTS) break;
  }
  for (const { promptId, content, origin } of openPrompts(source.state.prompts.get(MAIN_AGENT))) {
    if (isTyped(origin)) add(promptId, textOf(await source.load(content)));
  }
  return cutText(lines.join('\n'), PROMPTS_CHARS);
}

/** The prompts that have not settled: the active ones, then the queued ones. */
function openPrompts(prompts: AgentPrompts | undefined) {
  const open = [...(prompts?.open.values() ?? [])];
  return [...open.filter(({ state }) => state !== 'queued'), ...open.filter(({ state }) => state === 'queued')];
}

async function firstTurn(source: MessageSource): Promise<string> {
  let prompt: string | undefined;
  let answer = '';
  for await (const { kind, text } of utterances(source, historyOf(source))) {
    if (prompt === undefined) {
      if (kind === 'prompt' && text !== '') prompt = text;
    } else if (kind === 'answer') answer = text;
    else break;
  }
  if (prompt === undefined || answer === '') return '';
  return `${userLine(prompt, PROMPT_CHARS)}\n${assistantLine(answer, ANSWER_CHARS)}`;
}

async function digest(source: MessageSource): Promise<string> {
  const turns: { prompt: string; answer: string }[] = [];
  let turn: { prompt: string; answer: string } | undefined;
  for await (const { kind, text } of utterances(source, [...source.state.messages.places])) {
    if (kind === 'answer') {
      if (turn) turn.answer = text;
      continue;
    }
    turn = kind === 'prompt' && text !== '' ? { prompt: text, answer: '' } : undefined;
    if (turn) turns.push(turn);
  }
  const [first, ...later] = turns.map(({ prompt, answer }) =>
    [userLine(prompt, DIGEST_LINE_CHARS), ...(answer === '' ? [] : [assistantLine(answer, DIGEST_LINE_CHARS)])].join(
      '\n',
    ),
  );
  if (first === undefined) return '';
  const whole = [first, ...later].join('\n');
  if (whole.length <= DIGEST_CHARS) return whole;
  let length = first.length + 1 + OMITTED.length;
  let from = later.length;
  for (let turnLength = later[from - 1]?.length; turnLength !== undefined; turnLength = later[from - 1]?.length) {
    if (length + 1 + turnLength > DIGEST_CHARS) break;
    length += 1 + turnLength;
    from -= 1;
  }
  return [first, OMITTED, ...later.slice(from)].join('\n');
}

const historyOf = ({ state }: MessageSource): number[] => placesBetween(0, state.messages.history.length);

/** Reads the messages at these indices of the history in portions. */
async function* utterances(
  { state, readMessages }: MessageSource,
  places: number[],
  roles: readonly Message['role'][] = ['user', 'assistant'],
): AsyncGenerator<Utterance, undefined> {
  const { messages } = state;
  const wanted = places.filter((place) => roles.includes(messages.history[place]?.role ?? 'system'));
  for (let at = 0; at < wanted.length; at += PORTION) {
    for (const message of await readMessages(wanted.slice(at, at + PORTION))) {
      const utterance = utteranceOf(message);
      if (utterance) yield utterance;
    }
  }
}

function utteranceOf({ id, role, content, metadata }: Message): Utterance | undefined {
  const text = textOf(content);
  if (role === 'assistant') return text === '' ? undefined : { kind: 'answer', id, text };
  const origin = metadata?.origin;
  if (role !== 'user' || !isUndoAnchor({ role, origin })) return undefined;
  return { kind: isTyped(origin) ? 'prompt' : 'command', id, text };
}

/** Whether a message is a prompt that a user wrote, other than the activation of a skill or command. */
const isTyped = (origin: Origin | undefined): boolean => origin === undefined || origin.kind === 'user';

const textOf = (content: ContentPart[]): string => metadataText(content.filter(({ type }) => type === 'text'));
