import { execFileSync } from 'node:child_process';
import nodeFs, { constants } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createJournalFiles } from '#server/journal/journal-files.ts';
import { temporaryHome } from '#support/temporary-home.ts';

it('opens a named pipe in place of a journal without waiting for a program that writes into it', async () => {
  const dir = await temporaryHome();
  execFileSync('mkfifo', [join(dir, 'journal.ndjson')]);
  const files = createJournalFiles({
    ...nodeFs,
    openSync(path, flags, mode) {
      // It would block this test for ever.
      if (!(Number(flags) & constants.O_NONBLOCK)) throw new Error('a blocking open');
      return nodeFs.openSync(path, flags, mode);
    },
  });
  const reader = files.openToReadSync(dir);
  await expect(reader.read(Buffer.alloc(1), 1, 0)).rejects.toThrow('ESPIPE');
  await reader.close();
});
