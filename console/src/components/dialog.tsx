// Dialogs and drawers: native <dialog>, which traps the focus and closes on Esc. The component that
// opens one controls it; closing only calls onClose.
import './dialog.css';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { enterModal } from '../modals.ts';
import { words } from '../words.ts';
import { Button } from './button.tsx';
import { ToastList } from './toast-list.tsx';

type DialogProps = {
  readonly title: ComponentChildren;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Buttons in the footer, the primary one last. */
  readonly actions?: ComponentChildren;
};

export function Dialog(props: DialogProps): JSX.Element {
  return <Modal {...props} kind="dialog" />;
}

/** On the right side of a desktop, full screen on a phone. */
export function Drawer(props: DialogProps): JSX.Element {
  return <Modal {...props} kind="drawer" />;
}

function Modal({
  kind,
  title,
  onClose,
  children,
  actions,
}: DialogProps & { readonly kind: 'dialog' | 'drawer' }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useOpened(dialog, titleId);
  // Close only if the press also began on the backdrop: a text selection may end there.
  const pressedOn = useRef<EventTarget | null>(null);
  return (
    <dialog
      ref={dialog}
      class={`modal ${kind}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        pressedOn.current = event.target;
      }}
      onClick={(event) => {
        if (event.target === dialog.current && pressedOn.current === dialog.current) onClose();
      }}
    >
      <div class="modal-box">
        <header class="modal-head">
          <h2 id={titleId} tabIndex={-1}>
            {title}
          </h2>
          <Button kind="quiet" icon="close" label={words().close} onClick={onClose} />
        </header>
        <div class="modal-body">{children}</div>
        {actions === undefined ? null : <footer class="modal-foot">{actions}</footer>}
      </div>
      <ToastList modal={titleId} />
    </dialog>
  );
}

/** Opens the dialog, and restores the focus on close: removing a dialog does not do that. */
function useOpened(dialog: { current: HTMLDialogElement | null }, id: string): void {
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    const leave = enterModal(id);
    if (dialog.current?.querySelector('[autofocus]') === null) {
      dialog.current.querySelector('h2')?.focus();
    }
    return () => {
      leave();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
}

/** Asks before an action that cannot be undone. The button names the action. */
export function ConfirmDialog({
  title,
  children,
  confirm,
  dismiss = words().cancel,
  kind = 'danger',
  isBusy = false,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly confirm: string;
  /** Label of the button that does nothing. */
  readonly dismiss?: string;
  readonly kind?: 'danger' | 'primary';
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}): JSX.Element {
  const actions = (
    <>
      <Button onClick={onClose}>{dismiss}</Button>
      <Button kind={kind} isBusy={isBusy} onClick={onConfirm}>
        {confirm}
      </Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} actions={actions}>
      {children}
    </Dialog>
  );
}
