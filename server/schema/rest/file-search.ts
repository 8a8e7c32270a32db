import * as z from 'zod';
import { globList } from './file-list.ts';

/** Longer than any path. */
const QUERY_MAX_CHARS = 4096;

export const searchFields = {
  query: z.string().max(QUERY_MAX_CHARS),
  limit: z.int().min(1).max(200).default(50),
  include_globs: globList.optional(),
  exclude_globs: globList.optional(),
  follow_gitignore: z.boolean().default(true),
};
export const suggestFields = { ...searchFields, show_hidden: z.boolean().default(false) };

const searchSchema = z.object(searchFields);
export type SearchFiles = z.output<typeof searchSchema>;
const suggestSchema = z.object(suggestFields);
export type SuggestFiles = z.output<typeof suggestSchema>;

const fileHitSchema = z
  .object({
    /** Relative to the work directory. */
    path: z.string(),
    name: z.string(),
    kind: z.enum(['file', 'directory', 'symlink']),
    score: z.number().min(0).max(1),
    /** Offsets of the matched characters in the path, in UTF-16 code units. */
    match_positions: z.array(z.int().min(0)),
  })
  .meta({ id: 'FileHit' });

export const fileHitsSchema = z
  .object({
    items: z.array(fileHitSchema),
    /** True if there are more hits or the search ran out of time. */
    truncated: z.boolean(),
  })
  .meta({ id: 'FileHits' });
export type FileHits = z.infer<typeof fileHitsSchema>;
