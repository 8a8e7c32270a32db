/** The query of `GET /api/v2/sessions`. */
import * as z from 'zod';
import { activityStatus, sessionSort } from '#schema/rest/session-listing.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { PAGE_SIZE_MAX, queryInteger, queryList } from './query.ts';

const PROJECTED_MAX = 10_000;
const PAGE_SIZE = 50;
const GROUP_PAGE_SIZE = 5;

const trueOrFalse = z.enum(['true', 'false']);

/** The parts of a comma list, trimmed; empty ones are ignored. */
const parts = (text: string) => text.split(',').flatMap((part) => part.trim() || []);

const include = z
  .string()
  .default('')
  .transform((text, context) => {
    const domains = parts(text);
    const unknown = domains.find((domain) => domain !== 'git');
    if (unknown !== undefined) context.addIssue({ code: 'custom', message: `unknown domain '${unknown}'` });
    return { git: domains.length > 0 };
  });

const PROJECTION = ['id', 'archived'];

const fields = z
  .string()
  .default('')
  .transform((text, context) => {
    const names = new Set(parts(text));
    const unknown = [...names].find((name) => !PROJECTION.includes(name));
    if (unknown !== undefined) context.addIssue({ code: 'custom', message: `unknown field '${unknown}'` });
    else if (names.size === 1) context.addIssue({ code: 'custom', message: `only 'id,archived' is supported` });
    return { projection: names.size > 0 };
  });

const parameters = z.object({
  'workspace.id': queryList(nonEmpty).optional(),
  'activity.status': queryList(activityStatus).optional(),
  'meta.updated_after': queryInteger({ min: 0 }).optional(),
  'meta.updated_before': queryInteger({ min: 0 }).optional(),
  'meta.archived': z
    .enum(['true', 'false', 'all'])
    .default('false')
    .transform((value) => (value === 'all' ? value : value === 'true')),
  'meta.has_prompt': trueOrFalse.transform((value) => value === 'true').optional(),
  view: z.enum(['flat', 'by_workspace']).default('flat'),
  'group.page_size': queryInteger({ min: 1, max: PROJECTED_MAX }).optional(),
  sort: sessionSort.default('meta.updated_at_desc'),
  include,
  fields,
  page_size: queryInteger({ min: 1, max: PROJECTED_MAX }).optional(),
  page: queryInteger({ min: 1 }).optional(),
  page_token: nonEmpty.optional(),
});

type Parameters = z.output<typeof parameters>;

/** Issues between parameters that are valid by themselves: the parameter, and why the others do not allow it. */
function conflicts(query: Parameters): [keyof Parameters, string][] {
  const { projection } = query.fields;
  const found: [keyof Parameters, string | false][] = [
    [
      'page',
      query.page !== undefined && query.page_token !== undefined && 'page and page_token are mutually exclusive',
    ],
    ['fields', projection && query.include.git && 'fields and include=git are mutually exclusive'],
    ['page_size', !projection && tooLarge(query.page_size)],
    [
      'group.page_size',
      query['group.page_size'] !== undefined && query.view !== 'by_workspace'
        ? 'group.page_size needs view=by_workspace'
        : !projection && tooLarge(query['group.page_size']),
    ],
  ];
  return found.flatMap(([name, message]) => (message === false ? [] : [[name, message] as const]));
}

const tooLarge = (size: number | undefined): string | false =>
  size !== undefined && size > PAGE_SIZE_MAX && `more than ${PAGE_SIZE_MAX} needs fields=id,archived`;

export const listingQuery = parameters
  .check((context) => {
    if (context.issues.length > 0) return;
    for (const [name, message] of conflicts(context.value)) {
      context.issues.push({ code: 'custom', path: [name], message, input: context.value });
    }
  })
  .transform((query) => ({
    ...query,
    page_size: query.page_size ?? PAGE_SIZE,
    'group.page_size': query['group.page_size'] ?? GROUP_PAGE_SIZE,
  }));
