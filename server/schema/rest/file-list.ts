import * as z from 'zod';
import { clientArray } from '../client-array.ts';
import { fileEntrySchema } from './file-entry.ts';
import { nonEmpty } from '../scalars.ts';

/** Longer than any path. */
const GLOB_MAX_CHARS = 4096;
const GLOBS_MAX = 100;

/** Globs of a list or search request. */
export const globList = clientArray(z.string().max(GLOB_MAX_CHARS), { max: GLOBS_MAX });

export const fileSortSchema = z.enum(['type_first', 'name_asc', 'name_desc', 'mtime_desc', 'size_desc']);

const shared = {
  depth: z.int().min(1).max(10).default(1),
  limit: z.int().min(1).max(1000).default(200),
  show_hidden: z.boolean().default(false),
  follow_gitignore: z.boolean().default(true),
  exclude_globs: globList.optional(),
  include_git_status: z.boolean().default(false),
  sort: fileSortSchema.default('type_first'),
};

export const listFields = { path: z.string().default('.'), ...shared, allow_ignored_globs: globList.optional() };
export const listManyFields = { paths: clientArray(nonEmpty, { min: 1, max: 100 }), ...shared };

const listSchema = z.object(listFields);
export type ListFiles = z.output<typeof listSchema>;
const listManySchema = z.object(listManyFields);
export type ListManyFiles = z.output<typeof listManySchema>;

export const fileListSchema = z
  .object({
    items: z.array(fileEntrySchema),
    truncated: z.boolean(),
    /** With a depth above 1: the entries of the directories below, keyed by directory path. */
    children_by_path: z.record(z.string(), z.array(fileEntrySchema)).optional(),
  })
  .meta({ id: 'FileList' });
export type FileList = z.infer<typeof fileListSchema>;

export const fileListsSchema = z
  .object({
    results: z.record(z.string(), z.array(fileEntrySchema)),
    truncated_paths: z.array(z.string()),
    partial_errors: z.record(z.string(), z.object({ code: z.int(), msg: z.string() })),
  })
  .meta({ id: 'FileLists' });
export type FileLists = z.infer<typeof fileListsSchema>;
