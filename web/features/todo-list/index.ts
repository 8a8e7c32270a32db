import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { todoViews } from './todos.ts';

const TodoBody = defineAsyncComponent(() => import('./TodoBody.vue'));
const TodoStrip = defineAsyncComponent(() => import('./TodoStrip.vue'));

export const todoList: Feature = { ...todoViews, bodies: { todos: TodoBody }, strip: TodoStrip };
