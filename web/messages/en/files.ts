export const files = {
  'files.title': 'Files',
  'files.all': 'All',
  'files.changed': 'Changed',
  'files.tree': 'Files',
  'files.cut': '… more than are listed',
  'files.unreadable': 'The directory cannot be read.',

  'files.changedFiles': 'Changed files',
  'files.noGit': 'This folder is not under git.',
  'files.noBranch': 'no branch',
  'files.unchanged': 'Nothing has changed since the last commit.',

  'files.diff': 'Diff',
  'files.closeFile': 'Close the file',
  'files.noDifference': 'No difference to the last commit.',
  'files.restTooLong': 'The rest of the difference is too long.',
  'files.binary': ({ size }: { size: number }) => `A binary file of ${size} bytes.`,
  'files.showMore': 'Show more',
} as const;
