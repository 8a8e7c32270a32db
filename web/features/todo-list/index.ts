import type { Feature } from '../feature.ts';
import TodoBody from './TodoBody.vue';
import TodoStrip from './TodoStrip.vue';
import { todoViews } from './todos.ts';

export const todoList: Feature = { ...todoViews, bodies: { todos: TodoBody }, strip: TodoStrip };
