/** Replies with a list that is read in portions while it is written, so that it is never in memory as a whole. */
import { Readable } from 'node:stream';
import { JSON_TYPE, type Reply } from './reply.ts';

/** Data of which the member `items` has more than one portion. */
export class ItemPortions<Item> {
  readonly items: AsyncIterable<readonly Item[]>;
  /** The other members of the data. */
  readonly members: object;
  constructor(items: AsyncIterable<readonly Item[]>, members: object) {
    this.items = items;
    this.members = members;
  }
}

/** The item type of data with a list. */
export type ItemOf<Data> = Data extends { items: (infer Item)[] } ? Item : never;

/** Returns plain data if there is only one portion; its errors are answered with an envelope, those of later ones are not. */
export async function inPortions<Item, Members extends object>(
  portions: AsyncIterator<Item[], undefined>,
  members: Members,
): Promise<({ items: Item[] } & Members) | ItemPortions<Item>> {
  const first = await portions.next();
  const second = first.done ? first : await portions.next();
  if (second.done) return { items: first.value ?? [], ...members };
  async function* all() {
    yield first.value ?? [];
    for (let next = second; !next.done; next = await portions.next()) yield next.value;
  }
  return new ItemPortions(all(), members);
}

/** The success envelope; `check` is called with the data of each portion. */
export function portionsReply(
  { items, members }: ItemPortions<unknown>,
  requestId: string,
  status: number,
  check: (data: object) => void,
): Reply {
  async function* text() {
    yield '{"code":0,"msg":"success","data":{"items":[';
    let separator = '';
    for await (const portion of items) {
      check({ items: portion, ...members });
      if (portion.length === 0) continue;
      yield separator + JSON.stringify(portion).slice(1, -1);
      separator = ',';
    }
    const rest = Object.entries(members).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`);
    yield `]${rest.join('')}},"request_id":${JSON.stringify(requestId)}}`;
  }
  const body = Readable.from(text(), { objectMode: false });
  return { status, headers: { 'content-type': JSON_TYPE }, body, code: 0 };
}
