export const files = {
  'files.title': 'Files',
  'files.all': 'All',
  'files.changed': 'Changed',
  'files.tree': 'Files',
  'files.cut': '… more than are listed',
  'files.unreadable': 'The directory cannot be read.',

  'files.changedFiles': 'Changed files',
  'files.noGit': 'Not under git',
  'files.noBranch': 'no branch',
  'files.unchanged': 'No changes',

  'files.diff': 'Diff',
  'files.closeFile': 'Close the file',
  'files.noDifference': 'No difference to the last commit.',
  'files.restTooLong': 'The rest of the difference is too long.',
  'files.binary': ({ size }: { size: number }) => `A binary file of ${size} bytes.`,
  'files.showMore': 'Show more',

  'files.noGitText': 'This folder has no git repository. The edits of the session are in the panel Review.',
  'files.unchangedText': 'Nothing has changed since the last commit. All files are under “All”.',
} as const;
