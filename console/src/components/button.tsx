// Buttons, and links that look like buttons. A busy button keeps its width and focus.
import './button.css';
import type { ComponentChildren, JSX } from 'preact';
import { Icon, type IconName } from './icon.tsx';

type Look = {
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly size?: 'small' | 'normal';
  readonly icon?: IconName;
};

export type ButtonProps = Look & {
  readonly onClick?: (event: MouseEvent) => void;
  readonly type?: 'button' | 'submit';
  /** ID of the form that the button submits when it is placed outside the form. */
  readonly form?: string;
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  /** Accessible name: longer than the text, or in place of it for an icon. */
  readonly label?: string;
  readonly title?: string;
  readonly isPressed?: boolean;
  /** For a button that shows or hides something. */
  readonly isExpanded?: boolean;
  readonly children?: ComponentChildren;
};

export function Button(props: ButtonProps): JSX.Element {
  const { onClick, type = 'button', isBusy = false, isDisabled = false, children } = props;
  const press = (event: MouseEvent): void => {
    if (isBusy) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <button
      type={type}
      form={props.form}
      class={classOf(props)}
      disabled={isDisabled}
      aria-disabled={isBusy ? 'true' : undefined}
      aria-busy={isBusy ? 'true' : undefined}
      aria-label={props.label}
      aria-pressed={props.isPressed}
      aria-expanded={props.isExpanded}
      title={props.title ?? (children === undefined ? props.label : undefined)}
      onClick={press}
    >
      {props.icon === undefined ? null : <Icon name={props.icon} />}
      {children === undefined ? null : <span>{children}</span>}
    </button>
  );
}

export function LinkButton({
  href,
  children,
  isExternal = false,
  ...look
}: Look & {
  readonly href: string;
  /** Opens in a new tab. */
  readonly isExternal?: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <a
      class={classOf(look)}
      href={href}
      target={isExternal ? '_blank' : undefined}
      rel="noreferrer"
    >
      {look.icon === undefined ? null : <Icon name={look.icon} />}
      <span>{children}</span>
    </a>
  );
}

function classOf({ kind = 'plain', size = 'normal' }: Look): string {
  return `button ${kind} ${size}`;
}
