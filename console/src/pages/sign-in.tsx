// Asks for an API key. The key is sent once to open a session; the page does not store it.
import './sign-in.css';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useAction } from '../action.ts';
import type { ApiProblem } from '../api.ts';
import { Button } from '../components/button.tsx';
import { SecretField } from '../components/field.tsx';
import { Logo } from '../components/logo.tsx';
import { Notice } from '../components/notice.tsx';
import { ThemeButton } from '../components/user-buttons.tsx';
import { linkProblem, signIn } from '../session.ts';

export function SignInPage(): JSX.Element {
  const key = useSignal('');
  const enter = useAction(() => signIn({ key: key.value.trim() }), { quiet: true });
  useEffect(() => {
    document.title = 'Sign in · Ringback';
  }, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (key.value.trim() !== '') enter.run();
  };
  return (
    <main class="sign-in">
      <form class="sign-in-box" onSubmit={submit}>
        <p class="brand">
          <Logo />
          <span>Ringback</span>
        </p>
        <h1>Sign in</h1>
        {linkProblem.value === undefined || enter.problem !== undefined ? null : (
          <Notice tone="warn" title="This sign-in link is no longer valid">
            <p>{linkSentence(linkProblem.value)}</p>
          </Notice>
        )}
        <SecretField
          label="API key"
          value={key.value}
          isMono
          isRequired
          autocomplete="current-password"
          placeholder="rbk_…"
          hint="The browser stores a 12-hour session, not the key."
          error={enter.problem === undefined ? undefined : keySentence(enter.problem)}
          onInput={(value) => (key.value = value)}
        />
        <Button kind="primary" type="submit" isBusy={enter.isBusy}>
          {enter.isBusy ? 'Signing in…' : 'Sign in'}
        </Button>
        <p class="soft">No key? Restart the service: it prints a one-time sign-in link.</p>
      </form>
      <ThemeButton />
    </main>
  );
}

function linkSentence({ status, detail }: ApiProblem): string {
  if (status !== 401) return detail;
  return 'A link works once, within one hour of the start. Use a key, or restart the service for a new link.';
}

function keySentence({ status, title, detail }: ApiProblem): string {
  if (status !== 401) return `${title}. ${detail}`;
  return 'Invalid key. It may be mistyped, expired or revoked. Check it or use another key.';
}
