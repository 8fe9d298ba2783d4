// The frame of the portal: brand, navigation, and the page of the address; or why there is no session.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button, LinkButton } from '../src/components/button.tsx';
import { Empty, Failed } from '../src/components/list-states.tsx';
import { PageHeader } from '../src/components/page.tsx';
import { ToastList } from '../src/components/toast-list.tsx';
import { UntrustedText } from '../src/components/untrusted-text.tsx';
import { useAction } from '../src/action.ts';
import { DeliveriesPage } from './deliveries/deliveries.tsx';
import { DeliveryPage } from './deliveries/delivery.tsx';
import { ResendPage } from './deliveries/resend.tsx';
import { AddEndpointPage } from './endpoints/add.tsx';
import { EditEndpointPage } from './endpoints/edit.tsx';
import { EndpointPage } from './endpoints/endpoint.tsx';
import { EndpointsPage } from './endpoints/endpoints.tsx';
import { CatalogPage } from './events/catalog.tsx';
import { isFramed } from './frame.ts';
import { HistoryPage } from './history.tsx';
import { t } from './language.ts';
import { href, route } from './route.ts';
import {
  can,
  canAdd,
  endSession,
  openSession,
  sessionState,
  type PortalSession,
} from './session.ts';
import { VerifyPage } from './verify/verify.tsx';

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
      return null;
    case 'failed':
      return (
        <main class="alone">
          <Failed problem={state.problem} onRetry={() => void openSession()} />
        </main>
      );
    case 'out':
      return <SignedOut why={state.why} />;
    case 'in':
      return <Portal session={state.session} />;
  }
}

function SignedOut({ why }: { why: 'link' | 'over' | 'none' | 'ended' }): JSX.Element {
  const { title, text } = t().out[why];
  return (
    <main class="alone signed-out">
      <PageHeader title={title} />
      <p>{text}</p>
      {why === 'ended' ? null : <p>{t().out.again}</p>}
    </main>
  );
}

function Portal({ session }: { session: PortalSession }): JSX.Element {
  return (
    <div class="portal">
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          // The hash of the address names the page.
          event.preventDefault();
          document.querySelector<HTMLElement>('main h1')?.focus();
        }}
      >
        {t().nav.skip}
      </a>
      <header class="portal-head">
        {isFramed ? null : <Brand session={session} />}
        <Navigation />
      </header>
      <main>
        <CurrentPage />
      </main>
    </div>
  );
}

function Brand({ session }: { session: PortalSession }): JSX.Element {
  const { brand, appName } = session;
  const name = brand.name ?? appName;
  const end = useAction(endSession);
  return (
    <div class="brand">
      {brand.logo === undefined ? null : <img src={brand.logo} alt="" height={28} />}
      <strong>
        <UntrustedText text={name} />
      </strong>
      <Button kind="quiet" icon="sign-out" isBusy={end.isBusy} onClick={end.run}>
        {t().nav.end}
      </Button>
    </div>
  );
}

const sections = ['endpoints', 'deliveries', 'events', 'history', 'verify'] as const;

function Navigation(): JSX.Element {
  const [current] = route.value.path.split('/');
  return (
    <nav aria-label={t().nav.label}>
      {sections.map((name) => (
        <a key={name} href={href(name)} aria-current={name === current ? 'page' : undefined}>
          {t().nav[name]}
        </a>
      ))}
    </nav>
  );
}

function CurrentPage(): JSX.Element {
  const { path } = route.value;
  useHeadingFocus(path);
  return <Page key={path} path={path} />;
}

function Page({ path }: { path: string }): JSX.Element {
  const [section, id, action] = path.split('/');
  switch (section) {
    case 'endpoints':
      if (id === undefined) return <EndpointsPage />;
      if (id === 'new') return canAdd() ? <AddEndpointPage /> : <NoPage />;
      if (action === undefined) return <EndpointPage id={id} />;
      return action === 'edit' && can('manage') ? <EditEndpointPage id={id} /> : <NoPage />;
    case 'deliveries':
      return id === undefined ? <DeliveriesPage /> : <DeliveryPage id={id} />;
    case 'resend':
      return can('retry') ? <ResendPage /> : <NoPage />;
    case 'events':
      return <CatalogPage />;
    case 'history':
      return <HistoryPage />;
    case 'verify':
      return <VerifyPage />;
    case undefined:
    default:
      return <NoPage />;
  }
}

/** Screen readers announce a new page by its focused heading. In a frame, it also scrolls into view. */
function useHeadingFocus(path: string): void {
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) {
      scrollTo(0, 0);
      document.querySelector<HTMLElement>('main h1')?.focus();
    }
    isFirst.current = false;
  }, [path]);
}

function NoPage(): JSX.Element {
  const { title, text, back } = t().noPage;
  return (
    <>
      <PageHeader title={title} />
      <Empty icon="search" title={text}>
        <p class="empty-actions">
          <LinkButton href={href('endpoints')}>{back}</LinkButton>
        </p>
      </Empty>
    </>
  );
}
