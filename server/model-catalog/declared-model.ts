/** A model that a source declares. This file imports no `zod`: programs of threads use it, too. */

/** A larger list is refused, because each model becomes a record of the configuration file. */
export const MAX_MODELS = 10_000;

export interface DeclaredModel {
  alias: string;
  wireName: string;
  /** The owned fields in the spelling of the file. Not a table of TOML: most refreshes only compare it. */
  record: Record<string, unknown>;
}
