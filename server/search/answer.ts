/** Answers a search in the thread that has the index. */
import * as z from 'zod';
import { yieldToLoop } from '#server/async/yield.ts';
import type { Connection, IndexDb } from '#server/storage/derived-db.ts';
import { budgetLimits, type BudgetLimits } from './budget.ts';
import { indexJournal } from './index-journal.ts';
import type { FoundDocument, SearchAnswer, SearchJob } from './messages.ts';
import { conditionsOf, decodeToken, encodeToken } from './page-token.ts';
import { findPage } from './run-query.ts';
import { SESSIONS } from './sessions.ts';
import { snippetOf, wantedTexts } from './snippet.ts';
import type { Match } from './order.ts';

const documentRows = z.array(
  z.object({
    agentId: z.string(),
    role: z.enum(['user', 'assistant', 'title']),
    time: z.number(),
    turn: z.number().nullable(),
    step: z.number().nullable(),
    text: z.string(),
  }),
);
const stateRows = z.tuple([
  z.object({ generation: z.string(), documents: z.coerce.number(), indexedSessions: z.coerce.number() }),
]);
const STATE = `SELECT
  (SELECT value FROM facts WHERE name = 'generation') AS generation,
  (SELECT value FROM facts WHERE name = 'documents') AS documents,
  ${SESSIONS} AS indexedSessions`;
const DOCUMENT = `SELECT d.agent AS agentId, d.role, d.time, d.turn, d.step, t.text
  FROM documents d JOIN texts t ON t.number = d.number
  WHERE d.number = @number AND d.session = (SELECT number FROM sessions WHERE id = @sessionId)`;

export interface AnswerDeps {
  db: Pick<IndexDb, 'filled' | 'readOnly'>;
  connection: Connection;
  /** Text of the failure of the last refresh. */
  failure(): string | undefined;
  limits?: BudgetLimits;
}

/** Finds one page. Rejects with `validation.failed` for a token, with the signal's reason and with errors of SQLite. */
export async function answerSearch(
  { db, connection, failure, limits = budgetLimits }: AnswerDeps,
  { query, size, token, live }: SearchJob,
  signal: AbortSignal,
): Promise<SearchAnswer> {
  const end = performance.now() + limits.milliseconds;
  const isLate = () => performance.now() > end;
  let isCut = false;
  if (live) {
    const goesOn = async () => {
      isCut = isLate();
      return !isCut && !signal.aborted;
    };
    await indexJournal(connection, live, live.length, { newest: true, goesOn });
  }
  const isReadOnly = live === undefined && db.readOnly();
  const isFilled = live !== undefined || db.filled();
  const [{ generation, documents, indexedSessions }] = stateRows.parse(connection.all(STATE));
  const conditions = conditionsOf(query, live ? 'live' : 'index');
  // Until the index is complete its pages cannot be continued.
  const before = token === undefined ? undefined : decodeToken(token, conditions, isFilled ? generation : '');
  const page = await findPage(connection, {
    query,
    size,
    after: before?.after,
    frequencies: before?.frequencies,
    limits: { ...limits, milliseconds: end - performance.now() },
    checkAborted: () => signal.throwIfAborted(),
  });
  const last = page.matches.at(-1);
  const hasMore = page.hasMore && isFilled;
  // At the same moment: the number of a removed document may be used again.
  const documentsFound = page.matches.flatMap((match) => documentOf(connection, match));
  const wanted = wantedTexts(query);
  const found: FoundDocument[] = [];
  for (const { text, ...document } of documentsFound) {
    found.push({ ...document, snippet: document.role === 'title' ? text : snippetOf(text, wanted) });
    // Texts are long; other queries go between them.
    await yieldToLoop();
    signal.throwIfAborted();
  }
  return {
    found,
    hasMore,
    token: hasMore && last ? encodeToken(conditions, generation, last, page.frequencies) : undefined,
    incomplete: page.incomplete ?? (isCut ? 'deadline' : undefined),
    state: isReadOnly ? 'readonly' : isFilled ? 'ready' : 'building',
    indexedSessions,
    documents: live ? documentsOf(connection, live.id) : documents,
    degraded: failure(),
  };
}

function documentsOf({ all }: Connection, id: string): number {
  const rows = z.array(z.object({ documents: z.number() }));
  return rows.parse(all('SELECT documents FROM sessions WHERE id = @id', { id }))[0]?.documents ?? 0;
}

/** Empty for a document that was removed meanwhile. */
function documentOf(
  { all }: Connection,
  { number, sessionId, score }: Match,
): (Omit<FoundDocument, 'snippet'> & { text: string })[] {
  return documentRows.parse(all(DOCUMENT, { number, sessionId })).map(({ turn, step, ...document }) => ({
    ...document,
    sessionId,
    turn: turn ?? undefined,
    step: step ?? undefined,
    score,
  }));
}
