/**
 * Catalogue of all errors that clients receive: the stable name, the number on the wire, and where they differ the HTTP
 * status and the shapes of `data` and `details`. A number is never reused or removed.
 */
import * as z from 'zod';

interface CatalogueEntry {
  code: number;
  /** HTTP status; default: 200. */
  status?: number;
  /** `data` of the failure; default: null. */
  data?: z.ZodType;
  /** Whether `details` is an object instead of a list of fields. */
  detailsObject?: true;
}

const undoRefusal = z.object({
  reason: z.enum(['empty', 'insufficient', 'compaction_boundary']),
  requestedCount: z.int(),
  undoableCount: z.int(),
});

export const errorCatalogue = {
  'validation.failed': { code: 40001 },
  'provider.oauth_managed': { code: 40003 },
  'catalog.import_invalid': { code: 40004 },
  'registry.import_invalid': { code: 40005 },

  'auth.unauthorized': { code: 40101, status: 401 },
  'auth.provisioning_required': { code: 40110 },
  'auth.token_missing': { code: 40111, detailsObject: true },
  'auth.token_unauthorized': { code: 40112, detailsObject: true },
  'auth.model_not_resolved': { code: 40113, detailsObject: true },

  'host.not_allowed': { code: 40301, status: 403 },

  'route.not_found': { code: 40400, status: 404 },
  'session.not_found': { code: 40401 },
  'prompt.not_found': { code: 40402 },
  'message.not_found': { code: 40403 },
  'approval.not_found': { code: 40404 },
  'question.not_found': { code: 40405 },
  'task.not_found': { code: 40406 },
  'file.not_found': { code: 40407 },
  'mcp.server_not_found': { code: 40408 },
  'fs.path_not_found': { code: 40409 },
  'workspace.not_found': { code: 40410 },
  'fs.permission_denied': { code: 40411 },
  'provider.not_found': { code: 40412 },
  'model.not_found': { code: 40413 },
  'terminal.not_found': { code: 40414 },
  'skill.not_found': { code: 40415 },
  'tool_call.not_found': { code: 40416 },
  'catalog.entry_not_found': { code: 40417 },
  'capability.not_found': { code: 40418 },
  'plugin.not_found': { code: 40419 },
  'runtime.not_found': { code: 40420 },

  'session.busy': { code: 40901 },
  'approval.already_resolved': { code: 40902, data: z.object({ resolved: z.literal(false) }) },
  'prompt.already_completed': { code: 40903, data: z.object({ aborted: z.literal(false) }) },
  'task.already_finished': { code: 40904, data: z.object({ cancelled: z.literal(false) }), detailsObject: true },
  'fs.is_directory': { code: 40906 },
  'fs.is_binary': { code: 40907 },
  'fs.git_unavailable': { code: 40908 },
  'question.dismissed': { code: 40909, data: z.object({ dismissed: z.literal(true), dismissed_at: z.string() }) },
  'compaction.unable': { code: 40910 },
  'session.undo_unavailable': { code: 40911, data: undoRefusal },
  'skill.not_activatable': { code: 40912 },
  'goal.already_exists': { code: 40913 },
  'goal.not_found': { code: 40914 },
  'goal.status_invalid': { code: 40915 },
  'goal.objective_empty': { code: 40917 },
  'goal.objective_too_long': { code: 40918 },
  'fs.already_exists': { code: 40919 },
  'provider.already_exists': { code: 40921 },
  'page_token.mismatch': { code: 40922 },
  'session.title_unavailable': { code: 40923 },
  'capability.install_in_progress': { code: 40924 },
  'capability.unsupported': { code: 40925 },
  'runtime.unavailable': { code: 40926 },
  'prompt.id_conflict': { code: 40927 },
  'remote_control.already_running': { code: 40928, detailsObject: true },
  'mcp.oauth_failed': { code: 40929 },

  'approval.expired': { code: 41001 },
  'question.expired': { code: 41002 },
  'file.too_large': { code: 41301 },
  'fs.too_large': { code: 41302 },
  'fs.path_escapes_session': { code: 41304 },
  'fs.grep_timeout': { code: 41305 },

  'rate.limited': { code: 42901, status: 429 },
  'fs.watch_limit_exceeded': { code: 42902 },

  'internal.error': { code: 50001 },
  'persistence.failure': { code: 50003 },
  'catalog.unavailable': { code: 50004 },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorName = keyof typeof errorCatalogue;

type DataOf<Entry> = Entry extends { data: infer Schema extends z.ZodType } ? z.output<Schema> : never;

/** `data` of all errors that have one. */
export type ErrorData = DataOf<(typeof errorCatalogue)[ErrorName]>;

/** Whether a text is the name of an error. */
export const isErrorName = (name: string): name is ErrorName => Object.hasOwn(errorCatalogue, name);

export const errorEntry = (name: ErrorName): CatalogueEntry => errorCatalogue[name];

/** The error's number on the wire. */
export const codeOf = (name: ErrorName): number => errorCatalogue[name].code;
