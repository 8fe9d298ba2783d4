// The filter "Status or error" as people type it: `5xx`, `404`, `timeout`. Pure.
import { errorNames } from '../outcome-label.ts';

export type ResultFilter = { readonly status?: string; readonly error?: string };

export const resultSuggestions: readonly { readonly value: string }[] = [
  '2xx',
  '3xx',
  '4xx',
  '5xx',
  ...errorNames,
].map((value) => ({ value }));

/** The filter it stands for; undefined if it is neither a status nor an error. */
export function readResult(text: string): ResultFilter | undefined {
  const typed = text.trim().toLowerCase();
  if (typed === '') return {};
  const code = typed.replace(/^http\s*/u, '');
  if (/^[2-5]xx$|^[1-5]\d\d$/u.test(code)) return { status: code };
  return errorNames.includes(typed) ? { error: typed } : undefined;
}

export function resultText({ status, error }: ResultFilter): string {
  return status ?? error ?? '';
}
