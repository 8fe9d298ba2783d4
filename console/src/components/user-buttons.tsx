// User preferences: theme and sign-out.
import type { JSX } from 'preact';
import { useAction } from '../action.ts';
import { signOut } from '../session.ts';
import { chooseTheme, theme, themes } from '../theme.ts';
import { Button } from './button.tsx';

const words = { system: 'system', light: 'light', dark: 'dark' } as const;

/** Cycles through system, light and dark. */
export function ThemeButton({ hasText = false }: { hasText?: boolean }): JSX.Element {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system';
  const label = `Theme: ${words[theme.value]}. Switch to ${words[next]}`;
  const change = (): void => chooseTheme(next);
  return hasText ? (
    <Button icon="theme" label={label} onClick={change}>{`Theme: ${words[theme.value]}`}</Button>
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
