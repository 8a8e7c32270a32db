import type { Feature } from '../feature.ts';
import { cronViews } from './views.ts';

export const cron: Feature = cronViews;
