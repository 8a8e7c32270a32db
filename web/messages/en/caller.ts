/** Clients other than this page. */
interface Other {
  name: string | undefined;
  address: string | undefined;
}

const by = ({ name = 'an unnamed client', address }: Other) =>
  `by ${name}${address === undefined ? '' : ` (${address})`}, not from this page`;

export const caller = {
  'caller.by': by,
  'caller.settings': ({ fields, ...other }: Other & { fields: string }) =>
    `Settings (${fields}) were changed ${by(other)}.`,
  'caller.workspace': ({ root, ...other }: Other & { root: string }) =>
    `Name, trust or directories of ${root} were changed ${by(other)}.`,
} as const;
