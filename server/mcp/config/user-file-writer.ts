/** Writes `mcp.json` of the home. `createUserServers` receives it through the file's change lock. */
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { writeThroughLinks } from '#server/files/atomic-write.ts';
import { userFile } from './layers.ts';

export interface UserFileWriter {
  /** Replaces the text. Throws `persistence.failure`. */
  write(text: string): Promise<void>;
}

export function createUserFileWriter(home: string): UserFileWriter {
  const path = userFile(home);
  return {
    async write(text) {
      try {
        await writeThroughLinks(path, text);
      } catch (error) {
        const reason = errorMessage(error);
        throw new ServiceError('persistence.failure', `Failed to write ${path}: ${reason}`, { cause: error });
      }
    },
  };
}
