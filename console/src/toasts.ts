// Short messages about what just happened. Successes disappear by themselves; errors stay until
// dismissed.
import { signal } from '@preact/signals';
import { problemOf } from './api.ts';
import { limits } from './limits.ts';

export type Toast = {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
  readonly link?: { readonly href: string; readonly text: string };
};

export const toasts = signal<readonly Toast[]>([]);

let lastId = 0;

export function toastSuccess(text: string, link?: Toast['link']): void {
  const id = show({ tone: 'good', text, ...(link === undefined ? {} : { link }) });
  setTimeout(dismiss, limits.toastMs, id);
}

export function toastError(error: unknown): void {
  const { title, detail } = problemOf(error);
  show({ tone: 'bad', text: `${title}. ${detail}`.slice(0, limits.toastCharsMax) });
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

function show(toast: Omit<Toast, 'id'>): number {
  lastId += 1;
  toasts.value = [...toasts.value, { ...toast, id: lastId }].slice(-limits.toastsMax);
  return lastId;
}
