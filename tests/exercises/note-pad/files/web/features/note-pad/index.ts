import type { Feature } from '../feature.ts';
import NoteCard from './NoteCard.vue';

export const notePad: Feature = { strip: NoteCard };
