// The reader's own switches: light or dark, and signing out.
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { signOut } from '../session.ts';
import { chooseTheme, theme, themes } from '../theme.ts';
import { Button } from './button.tsx';

const words = { system: 'as the system', light: 'light', dark: 'dark' } as const;

/** Goes round: as the system, light, dark. */
export function ThemeButton({ hasText = false }: { hasText?: boolean }): JSX.Element {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system';
  const label = `Colours: ${words[theme.value]}. Change to ${words[next]}`;
  const change = (): void => chooseTheme(next);
  return hasText ? (
    <Button icon="theme" label={label} onClick={change}>{`Colours: ${words[theme.value]}`}</Button>
  ) : (
    <Button kind="quiet" icon="theme" label={label} onClick={change} />
  );
}

export function SignOutButton(): JSX.Element {
  const leave = useAction(signOut);
  return (
    <Button
      kind="quiet"
      icon="sign-out"
      label="Sign out"
      isBusy={leave.isBusy}
      onClick={leave.run}
    />
  );
}
