/**
 * Options for a refinement that compares fields: it runs only when every field passed. Zod itself would also run it
 * after failures such as "too small".
 *
 *     schema.refine((value) => …, { ...afterFields, path: ['before_id'], error: '…' })
 */
export const afterFields = {
  when: (payload: { issues: readonly unknown[] }): boolean => payload.issues.length === 0,
};
