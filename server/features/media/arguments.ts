/** Arguments of the tool that reads media files. */
import * as z from 'zod';

const pixels = z.int().min(0);
export const parameters = z.object({
  path: z.string().describe('File to read. Relative paths start at the working directory.'),
  region: z
    .object({
      x: pixels.describe('Left edge.'),
      y: pixels.describe('Upper edge.'),
      width: z.int().min(1).describe('Pixels from there to the right.'),
      height: z.int().min(1).describe('Pixels from there down.'),
    })
    .optional()
    .describe('Part of an image, in pixels of the original; it is shown with more detail than the whole.'),
  full_resolution: z
    .boolean()
    .optional()
    .describe('Show an image, or the region, with every pixel; fails where that is too much to send. Default false.'),
});

export type MediaArguments = z.output<typeof parameters>;
