/** Short messages over the page about the result of an action. An error that needs an answer belongs where it happened. */
import { shallowRef } from 'vue';

export interface ToastMessage {
  title: string;
  text?: string;
  tone?: 'good' | 'bad' | 'attention' | 'info';
  /** The next step, such as an undo. */
  action?: { label: string; run(): void };
}

export interface OpenToast extends ToastMessage {
  id: number;
}

export const toasts = shallowRef<readonly OpenToast[]>([]);
let last = 0;

function show(message: ToastMessage): number {
  last += 1;
  toasts.value = [...toasts.value, { ...message, id: last }];
  return last;
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export const useToasts = () => ({ toasts, show, dismiss });
