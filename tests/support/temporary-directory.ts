import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates an empty directory, which the caller removes. */
export const temporaryDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'service-code-'));
