/**
 * Options for a refinement that compares fields: it runs only if every field is valid. By default zod also runs it
 * after failures such as "too small".
 *
 *     schema.refine((value) => …, { ...afterFields, path: ['before_id'], error: '…' })
 */
export const afterFields = {
  when: (payload: { issues: readonly unknown[] }): boolean => payload.issues.length === 0,
};
