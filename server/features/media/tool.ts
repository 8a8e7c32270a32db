/** ReadMediaFile: shows an image or a video of the project to the model. */
import { acceptedImageTypes, mediaType, SIGNATURE_BYTES } from '#server/files/media-types.ts';
import type { Target } from '#server/runtime/path-policy.ts';
import { DECODE_BYTES } from '#server/images/decoder.ts';
import type { Images } from '#server/images/images.ts';
import type { VideoFile } from '#server/models/video-uploads.ts';
import { resolveFile } from '#server/permissions/resolve-file.ts';
import type { OpenFile } from '#server/runtime/runtime.ts';
import { readTarget } from '#server/builtin-tools/read-target.ts';
import { defineTool, failed, type RunContext, type Tool, type ToolResult } from '#server/tools/tool.ts';
import type { Part } from '#schema/engine.ts';
import { notMedia, unsupported } from './guidance.ts';
import { imageOf, type Shown } from './image.ts';
import { videoOf, type UploadVideo } from './video.ts';
import type { MediaKind } from '#server/agent/media/media-kinds.ts';
import { parameters } from './arguments.ts';
import type { MediaArguments } from './arguments.ts';

export const READ_MEDIA_FILE = 'ReadMediaFile';
export const MEDIA_MAX_BYTES = 100 * 1024 * 1024;

export interface MediaDeps {
  images: Images;
  uploadVideo: UploadVideo;
}

/** Names of the kinds in the tool's description. */
const plural: Record<MediaKind, string> = { image: 'images (PNG, JPEG, GIF, WebP)', video: 'videos' };

/** Escapes a path for an attribute value. */
const attribute = (path: string): string => path.replace(/[<>"&\p{Cc}]/gu, (sign) => `&#${sign.codePointAt(0) ?? 0};`);

const framed = (kind: MediaKind, path: string, part: Part): Part[] => [
  { type: 'text', text: `<${kind} path="${attribute(path)}">` },
  part,
  { type: 'text', text: `</${kind}>` },
];

/** Reads the file's bytes after `head`, and returns all of them. */
async function whole(file: OpenFile, head: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  const pieces = [head];
  let left = file.stats.size - head.length;
  while (left > 0) {
    signal.throwIfAborted();
    const piece = await file.read(left);
    if (piece.length === 0) break;
    pieces.push(piece);
    left -= piece.length;
  }
  return Buffer.concat(pieces);
}

async function shown(
  file: VideoFile,
  kinds: ReadonlySet<MediaKind>,
  args: MediaArguments,
  deps: MediaDeps,
  signal: AbortSignal,
): Promise<(Shown & { kind: MediaKind }) | string> {
  const { type, size, read } = file;
  const kind = type.startsWith('image/') ? 'image' : 'video';
  if (!kinds.has(kind)) return `${args.path} is ${type}; this model takes no ${kind}s.`;
  if (kind === 'video') {
    if (args.region || args.full_resolution) return 'region and full_resolution are for images.';
    return { ...(await videoOf(file, deps.uploadVideo, signal)), kind };
  }
  if (!acceptedImageTypes.has(type)) return unsupported(args.path, type);
  if (size > DECODE_BYTES) {
    return `${args.path} has ${size} bytes; images are decoded up to ${DECODE_BYTES}. Make a smaller copy with Bash and read that.`;
  }
  const image = await imageOf(read, args, deps.images);
  return typeof image === 'string' ? image : { ...image, kind };
}

async function readOpened(
  file: OpenFile,
  target: Target,
  kinds: ReadonlySet<MediaKind>,
  args: MediaArguments,
  deps: MediaDeps,
  { signal }: RunContext,
): Promise<ToolResult> {
  const { stats } = file;
  if (stats.isDirectory()) return failed(`${args.path} is a directory.`);
  if (!stats.isFile()) return failed(`${args.path} is not a regular file.`);
  if (stats.size === 0) return failed(`${args.path} is empty.`);
  if (stats.size > MEDIA_MAX_BYTES) {
    return failed(`${args.path} has ${stats.size} bytes; the limit is ${MEDIA_MAX_BYTES}.`);
  }
  const head = await file.read(SIGNATURE_BYTES);
  const type = mediaType(head);
  if (type === undefined) return failed(notMedia(args.path));
  const { size, mtimeMs } = stats;
  const opened = { path: target.real, type, size, mtimeMs, read: () => whole(file, head, signal) };
  const result = await shown(opened, kinds, args, deps, signal);
  if (typeof result === 'string') return failed(result);
  const { kind, part, description } = result;
  return { output: framed(kind, target.path, part), note: `<system>${description}</system>` };
}

/** Creates the tool for a model that accepts media of these kinds, at least one. */
export function createReadMediaTool(kinds: ReadonlySet<MediaKind>, deps: MediaDeps): Tool {
  const run = (args: MediaArguments, target: Target, context: RunContext): Promise<ToolResult> =>
    readTarget(args.path, target, context, (file) => readOpened(file, target, kinds, args, deps, context));

  return defineTool({
    name: READ_MEDIA_FILE,
    permission: 'read',
    effects: 'none',
    description: [
      `Shows you ${[...kinds].map((kind) => plural[kind]).join(' and ')} of up to ${MEDIA_MAX_BYTES / 1024 / 1024} MB. Use Read for text.`,
      ...(kinds.has('image')
        ? [
            'Large images are made smaller; a note in <system> tells the original size. To see details, read a region, given in pixels of the original, or use full_resolution.',
          ]
        : []),
      'What a file is its content says, not its name. Files that hold secrets are refused.',
    ].join('\n'),
    parameters,
    async prepare(args, environment) {
      const target = await resolveFile(args.path, environment);
      return {
        accesses: [{ kind: 'file', ...target, mode: 'read' }],
        label: `Reading media: ${args.path}`,
        display: { kind: 'file_io', operation: 'read', path: target.path },
        subject: { text: target.path, match: 'path' },
        run: (context) => run(args, target, context),
      };
    },
  });
}
