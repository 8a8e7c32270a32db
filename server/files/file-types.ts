/** Media type and language of a file by its extension. */
import { extname } from 'node:path';

interface FileType {
  mime: string;
  languageId?: string;
}

const language = (mime: string, languageId: string): FileType => ({ mime, languageId });

const types = new Map<string, FileType>([
  ['.ts', language('text/typescript', 'typescript')],
  ['.tsx', language('text/typescript', 'typescriptreact')],
  ['.js', language('text/javascript', 'javascript')],
  ['.mjs', language('text/javascript', 'javascript')],
  ['.cjs', language('text/javascript', 'javascript')],
  ['.jsx', language('text/javascript', 'javascriptreact')],
  ['.json', language('application/json', 'json')],
  ['.md', language('text/markdown', 'markdown')],
  ['.html', language('text/html', 'html')],
  ['.css', language('text/css', 'css')],
  ['.yaml', language('text/yaml', 'yaml')],
  ['.yml', language('text/yaml', 'yaml')],
  ['.toml', language('application/toml', 'toml')],
  ['.sh', language('text/x-shellscript', 'shellscript')],
  ['.py', language('text/x-python', 'python')],
  ['.rs', language('text/rust', 'rust')],
  ['.go', language('text/x-go', 'go')],
  ['.svg', { mime: 'image/svg+xml' }],
  ['.png', { mime: 'image/png' }],
  ['.jpg', { mime: 'image/jpeg' }],
  ['.jpeg', { mime: 'image/jpeg' }],
  ['.gif', { mime: 'image/gif' }],
  ['.webp', { mime: 'image/webp' }],
  ['.avif', { mime: 'image/avif' }],
  ['.bmp', { mime: 'image/bmp' }],
  ['.ico', { mime: 'image/x-icon' }],
  ['.mp4', { mime: 'video/mp4' }],
  ['.webm', { mime: 'video/webm' }],
  ['.mov', { mime: 'video/quicktime' }],
  ['.mp3', { mime: 'audio/mpeg' }],
  ['.wav', { mime: 'audio/wav' }],
  ['.pdf', { mime: 'application/pdf' }],
]);

/** Undefined for an unknown extension. */
export const fileType = (name: string): FileType | undefined => types.get(extname(name).toLowerCase());
