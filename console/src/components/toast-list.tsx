// The toast region. It always exists, so that screen readers announce new toasts.
import './toast-list.css';
import type { JSX } from 'preact';
import { openModals } from '../modals.ts';
import { dismiss, toasts } from '../toasts.ts';
import { words } from '../words.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { UntrustedText } from './untrusted-text.tsx';

/** Every dialog has one; only the topmost shows toasts. */
export function ToastList({ modal }: { modal?: string }): JSX.Element {
  const shown = openModals.value.at(-1) === modal ? toasts.value : [];
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map(({ id, tone, text, link }) => (
        <div key={id} class={`toast ${tone}`}>
          <Icon name={tone === 'good' ? 'check' : 'alert'} />
          <p>
            <UntrustedText text={text} />{' '}
            {link === undefined ? null : <a href={link.href}>{link.text}</a>}
          </p>
          <Button
            kind="quiet"
            size="small"
            icon="close"
            label={words().dismiss}
            onClick={() => dismiss(id)}
          />
        </div>
      ))}
    </div>
  );
}
