/** Renders a video as the content of a tool result: its bytes are uploaded to the model's provider. */
import type { VideoFile } from '#server/models/video-uploads.ts';
import type { Shown } from './image.ts';

export type UploadVideo = (video: VideoFile, signal: AbortSignal) => Promise<{ url: string; id: string }>;

/** Throws `ModelError` when the upload fails. */
export async function videoOf(video: VideoFile, upload: UploadVideo, signal: AbortSignal): Promise<Shown> {
  const videoUrl = await upload(video, signal);
  return { part: { type: 'video_url', videoUrl }, description: `${video.type}, ${video.size} bytes.` };
}
