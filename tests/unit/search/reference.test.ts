/** Random queries over random documents, compared with a plain implementation of what a search finds. */
import { expect, it } from 'vitest';
import { searchRequestSchema, type SearchRequest } from '#schema/rest/search.ts';
import { budgetLimits } from '#server/search/budget.ts';
import { parseQuery } from '#server/search/query.ts';
import { findPage } from '#server/search/run-query.ts';
import { readSession, setArchived } from '#server/search/sessions.ts';
import { addDocuments, indexedText, nextNumber } from '#server/search/write-documents.ts';
import { integer, pick, seeded } from '#support/random.ts';
import { useSearchDb } from './search-db.ts';

const DOCUMENTS = 400;
const QUERIES = 300;
const random = seeded(17);
/** A text of many documents of few times: most of them differ only in their sessions and keys. */
const TIED = 'tied';
const TIED_SHARE = 0.2;

const PIECES = [
  'sea',
  'Sea',
  'SEA',
  'seal',
  'foo_bar',
  'fooBar(baz)',
  'v2',
  'x',
  '世界',
  '你好世界',
  '世',
  'カナー',
  '한국',
  '𠮷野',
  'v2版本',
  'ﬁle',
  'ＡＢＣ',
  'é',
  'e\u0301',
  '!',
  '、',
  '"quoted"',
];
const SEPARATORS = [' ', ' ', ', ', '\n', '', '-'];
const textOf = (most: number) =>
  Array.from({ length: 1 + integer(random, most) }, () => pick(random, PIECES) + pick(random, SEPARATORS)).join('');

interface Document {
  session: string;
  workspace: string;
  archived: boolean;
  key: string;
  agent: string;
  role: 'user' | 'assistant';
  time: number;
  text: string;
  terms: string[];
}
const documents: Document[] = [];

const search = useSearchDb((connection) => {
  for (let index = 0; index < DOCUMENTS; index += 1) {
    const name = pick(random, ['b', 'B', 'a', 'ä', '_', 'archived']);
    const text = random() < TIED_SHARE ? TIED : textOf(12);
    const agent = pick(random, ['main', 'agent-1']);
    const document: Document = {
      session: `session_${name}`,
      workspace: name < 'b' ? 'wd_one_000000000001' : 'wd_two_000000000002',
      archived: name === 'archived',
      key: `${agent}.${index}.0`,
      agent,
      role: pick(random, ['user', 'assistant']),
      time: 100 + integer(random, text === TIED ? 3 : 20),
      text: text.trim(),
      terms: documentTerms(text),
    };
    const source = { id: document.session, workspaceId: document.workspace, archived: false, folder: '' };
    const { number } = readSession(connection, source, 'epoch');
    setArchived(connection, document.session, document.archived);
    connection.transaction(() => {
      const { role, time } = document;
      const step = role === 'assistant' ? 1 : undefined;
      const added = { agentId: agent, record: index, part: 0, time, step, text: indexedText(document.text) };
      addDocuments(connection, nextNumber(connection, random() < 0.5), number, [added]);
    });
    documents.push(document);
  }
});

const plain = (text: string) => text.normalize('NFKC').toLowerCase();
const isUnspaced = (character: string) => /^\p{L}$/u.test(character) && UNSPACED.test(character);
const UNSPACED = /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}]$/u;

/** Runs of word characters, divided where the kind of script changes. */
function runs(text: string): { characters: string[]; unspaced: boolean }[] {
  return [...plain(text).matchAll(/[\p{L}\p{M}\p{N}]+/gu)].flatMap(([word]) => {
    const found: { characters: string[]; unspaced: boolean }[] = [];
    for (const character of word) {
      const unspaced = isUnspaced(character);
      const last = found.at(-1);
      if (last?.unspaced === unspaced) last.characters.push(character);
      else found.push({ characters: [character], unspaced });
    }
    return found;
  });
}
const pairs = (characters: string[]) => characters.slice(1).map((character, at) => `${characters[at]}${character}`);
const documentTerms = (text: string) =>
  runs(text).flatMap(({ characters, unspaced }) =>
    unspaced ? [...characters, ...pairs(characters)] : [characters.join('')],
  );
const queryTerms = (text: string) => [
  ...new Set(
    runs(text).flatMap(({ characters, unspaced }) =>
      unspaced && characters.length > 1 ? pairs(characters) : [characters.join('')],
    ),
  ),
];

const weight = (occurrences: number) => (occurrences === 1 ? 1 : occurrences < 4 ? 2 : 5);

function scoreOf(document: Document, terms: string[]): number {
  const own = document.terms;
  let score = 0;
  for (const term of terms) {
    const occurrences = own.filter((each) => each === term).length;
    const frequency = documents.filter((each) => each.terms.includes(term)).length;
    if (occurrences > 0) score += (weight(occurrences) * Math.log(1 + DOCUMENTS / frequency)) / own.length;
  }
  return score;
}

function isWanted(document: Document, request: SearchRequest, workspaces: string[] | undefined): boolean {
  const { container = {}, role, start_time = 0, end_time = Infinity } = request;
  return (
    !document.archived &&
    (container.session_id ?? document.session) === document.session &&
    (container.agent_id ?? document.agent) === document.agent &&
    (workspaces ?? [document.workspace]).includes(document.workspace) &&
    (role ?? document.role) === document.role &&
    document.time >= start_time &&
    document.time <= end_time
  );
}

/** The documents that a request finds, with their scores; in no order. */
function expected(request: SearchRequest, workspaces: string[] | undefined): [Document, number][] {
  const wanted = documents.filter((document) => isWanted(document, request, workspaces));
  if (request.mode === 'literal') {
    return wanted.flatMap((each) => (plain(each.text).includes(plain(request.query)) ? [[each, 0]] : []));
  }
  const terms = queryTerms(request.query);
  const matches = (own: string[]) =>
    request.op === 'AND' ? terms.every((term) => own.includes(term)) : terms.some((term) => own.includes(term));
  if (terms.length === 0) return [];
  return wanted.flatMap((each) => (matches(each.terms) ? [[each, scoreOf(each, terms)]] : []));
}

/** Some neighbouring characters. */
const partOf = (text: string) => [...text].slice(integer(random, 4), 4 + integer(random, 9)).join('');

function randomRequest() {
  const maybe = <T>(value: T): T | undefined => (random() < 0.2 ? value : undefined);
  const container = {
    session_id: maybe(pick(random, documents).session),
    agent_id: maybe(pick(random, ['main', 'agent-1', 'agent-2'])),
  };
  const request = searchRequestSchema.safeParse({
    query: random() < TIED_SHARE ? TIED : random() < 0.8 ? textOf(3) : partOf(pick(random, documents).text),
    mode: pick(random, ['terms', 'literal']),
    op: pick(random, ['AND', 'OR']),
    container,
    role: maybe(pick(random, ['user', 'assistant', 'title'])),
    start_time: maybe(100 + integer(random, 20)),
    end_time: maybe(100 + integer(random, 20)),
    sort: pick(random, ['score', 'time_desc', 'time_asc']),
  });
  return { request, workspaces: maybe([pick(random, documents).workspace]) };
}

interface Row {
  score: number;
  time: number;
  sessionId: string;
  key: string;
}
const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
function inOrder({ mode, sort }: SearchRequest, rows: Row[]): Row[] {
  return rows.toSorted((a, b) => {
    const byScore = mode === 'terms' && sort === 'score' ? compare(b.score, a.score) : 0;
    const byTime = mode === 'terms' && sort === 'time_asc' ? compare(a.time, b.time) : compare(b.time, a.time);
    return byScore || byTime || compare(a.sessionId, b.sessionId) || compare(a.key, b.key);
  });
}

it(`${QUERIES} queries find the documents, with the scores and in the order, of the plain implementation`, async () => {
  let [found, pages] = [0, 0];
  for (let run = 0; run < QUERIES; run += 1) {
    const { request: parsed, workspaces } = randomRequest();
    const request = parsed.data;
    const isRefused =
      !request || (request.mode === 'terms' ? request.query.trim() === '' : [...plain(request.query)].length < 2);
    if (isRefused) continue;
    const find = {
      query: parseQuery(request, workspaces),
      limits: { ...budgetLimits, milliseconds: Infinity, firstWindow: 50 },
    };
    const page = (size: number, more: object = {}) =>
      findPage(search.connection, { ...find, size, ...more, checkAborted: () => undefined });
    const { matches, frequencies } = await page(DOCUMENTS);
    const rows = matches.map(({ sessionId, key, time, score }) => ({ sessionId, key, time, score }));
    const reference = new Map(expected(request, workspaces).map(([document, score]) => [document.key, score]));
    // With the request, so that a failure shows it.
    const of = <T>(value: T) => ({ request, workspaces, value });
    expect(of(new Set(rows.map(({ key }) => key)))).toEqual(of(new Set(reference.keys())));
    for (const { key, score } of rows) expect(of(score)).toEqual(of(expect.closeTo(reference.get(key) ?? NaN, 6)));
    expect(of(rows)).toEqual(of(inOrder(request, rows)));
    found += rows.length;

    const seen: typeof matches = [];
    for (let last = await page(1 + integer(random, 9)); ; pages += 1) {
      seen.push(...last.matches);
      if (!last.hasMore) break;
      last = await page(1 + integer(random, 30), { after: seen.at(-1), frequencies });
    }
    expect(of(seen)).toEqual(of(matches));
  }
  expect(found).toBeGreaterThan(QUERIES);
  expect(pages).toBeGreaterThan(QUERIES);
});
