// Chooses the page: sign-in without a session, otherwise the page of the address, if the key may
// see it.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { LinkButton } from './components/button.tsx';
import { Layout } from './components/layout.tsx';
import { Empty, Failed } from './components/list-states.tsx';
import { PageHeader } from './components/page.tsx';
import { ToastList } from './components/toast-list.tsx';
import { pages } from './pages.ts';
import { searchPath } from './path-of-id.ts';
import { SearchPage } from './pages/search.tsx';
import { SignInPage } from './pages/sign-in.tsx';
import { route } from './router.ts';
import { can, readSession, sessionState } from './session.ts';

export function App(): JSX.Element {
  return (
    <>
      <Shown />
      <ToastList />
    </>
  );
}

function Shown(): JSX.Element | null {
  const state = sessionState.value;
  switch (state.kind) {
    case 'unknown':
      return null; // Lasts one request: a flash of content is worse than none.
    case 'failed':
      return (
        <main class="alone">
          <Failed problem={state.problem} onRetry={() => void readSession()} />
        </main>
      );
    case 'out':
      return <SignInPage />;
    case 'in':
      return (
        <Layout>
          <CurrentPage />
        </Layout>
      );
  }
}

/** Opened from the top bar of every page. */
const search = { scope: 'read', component: SearchPage } as const;

function CurrentPage(): JSX.Element {
  const { path } = route.value;
  useHeadingFocus(path);
  const page = path === searchPath ? search : pages.find((one) => one.path === path);
  if (page === undefined) return <NoPage />;
  if (page.scope !== undefined && !can(page.scope)) return <NotAllowed scope={page.scope} />;
  const { component: Component } = page;
  return <Component key={path} />;
}

/**
 * Screen readers announce a new page by its focused heading. The browser announces the first one.
 */
function useHeadingFocus(path: string): void {
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) document.querySelector<HTMLElement>('main h1')?.focus();
    isFirst.current = false;
  }, [path]);
}

function NoPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Page not found" />
      <Empty icon="search" title="There is no page at this address">
        <p class="empty-actions">
          <LinkButton href="/console">Go to overview</LinkButton>
        </p>
      </Empty>
    </>
  );
}

function NotAllowed({ scope }: { scope: string }): JSX.Element {
  return (
    <>
      <PageHeader title="Missing scope" />
      <Empty icon="key" title={`This page requires a key with the “${scope}” scope`}>
        <p>Sign in with another key, or ask an administrator of the app for one.</p>
      </Empty>
    </>
  );
}
