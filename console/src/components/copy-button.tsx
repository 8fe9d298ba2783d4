// Copies a text and says so.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { copyText } from '../clipboard.ts';
import { toastSuccess } from '../toasts.ts';
import { Button } from './button.tsx';

export function CopyButton({
  text,
  what,
  note = '',
  isBare = false,
  isBusy = false,
}: {
  /** May be made only when it is wanted. */
  readonly text: string | (() => string);
  /** What is copied, for the button's label: `id`, `as curl`. */
  readonly what: string;
  /** What to know about the copy, said with the word that it was made. */
  readonly note?: string;
  readonly isBare?: boolean;
  /** While the text is not known yet. */
  readonly isBusy?: boolean;
}): JSX.Element {
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    isCopied.value = await copyText(typeof text === 'string' ? text : text());
    toastSuccess(
      isCopied.value
        ? `Copied ${what}. ${note}`.trim()
        : 'This browser does not let the page copy.',
    );
    setTimeout(() => {
      isCopied.value = false;
    }, 2_000);
  };
  const icon = isCopied.value ? 'check' : 'copy';
  const press = (): void => void copy();
  return isBare ? (
    <Button
      kind="quiet"
      size="small"
      icon={icon}
      label={`Copy ${what}`}
      isBusy={isBusy}
      onClick={press}
    />
  ) : (
    <Button size="small" icon={icon} isBusy={isBusy} onClick={press}>
      {`Copy ${what}`}
    </Button>
  );
}
