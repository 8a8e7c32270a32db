export const drafts = {
  'drafts.waits-for-server': 'The server does not answer. The prompt is sent as soon as it does.',
  'drafts.waits-for-files': 'The prompt is sent as soon as its files are uploaded.',
  'drafts.file-failed': 'A file could not be uploaded. Try it again or remove it; then the prompt is sent.',
} as const;
