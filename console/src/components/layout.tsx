// The layout of every page: navigation on the left of a desktop or at the bottom of a phone, and a
// top bar with ID search, live state and user preferences.
import './layout.css';
import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useShortcuts } from '../shortcuts.ts';
import { stepRow } from '../step-row.ts';
import { shownPages, type PageRow } from '../pages.ts';
import { navigate, route } from '../router.ts';
import { session } from '../session.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { Icon } from './icon.tsx';
import { IdSearch } from './id-search.tsx';
import { LiveButton } from './live-button.tsx';
import { Logo } from './logo.tsx';
import { UntrustedText } from './untrusted-text.tsx';
import { SignOutButton, ThemeButton } from './user-buttons.tsx';

/** Pages with their own place in the bottom bar of a phone; the others are under "More". */
const bottomBarPages = 4;

export function Layout({ children }: { children: ComponentChildren }): JSX.Element {
  const isHelpOpen = useSignal(false);
  const pages = shownPages();
  useShortcuts([
    { keys: '?', does: 'Show keyboard shortcuts', run: () => (isHelpOpen.value = true) },
    { keys: 'j', does: 'Next row', run: () => stepRow(1) },
    { keys: 'k', does: 'Previous row', run: () => stepRow(-1) },
    ...pages.map(({ letter, title, path }) => ({
      keys: `g ${letter}`,
      does: `Go to ${title}`,
      run: () => navigate(path),
    })),
  ]);
  return (
    <div class="layout">
      <a class="skip-link" href="#main" onClick={skip}>
        Skip to content
      </a>
      <aside class="side">
        <Brand />
        <nav aria-label="Pages">
          <ul class="nav">
            {pages.map((page) => (
              <li key={page.path}>
                <NavLink page={page} />
              </li>
            ))}
          </ul>
        </nav>
        <Account />
      </aside>
      <div class="stage">
        <header class="bar">
          <a class="bar-brand" href="/console" aria-label="Ringback, overview">
            <Logo />
          </a>
          <IdSearch />
          <div class="bar-tools">
            <LiveButton />
            <span class="desktop-only">
              <ThemeButton />
            </span>
            <span class="desktop-only">
              <Button
                kind="quiet"
                icon="help"
                label="Keyboard shortcuts"
                onClick={() => (isHelpOpen.value = true)}
              />
            </span>
          </div>
        </header>
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <BottomBar pages={pages} />
      {isHelpOpen.value ? <HelpDialog onClose={() => (isHelpOpen.value = false)} /> : null}
    </div>
  );
}

function skip(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Brand(): JSX.Element {
  return (
    <a class="brand" href="/console">
      <Logo />
      <span>Ringback</span>
    </a>
  );
}

function NavLink({ page }: { page: PageRow }): JSX.Element {
  const isHere = route.value.path === page.path;
  return (
    <a href={page.path} class="nav-link" aria-current={isHere ? 'page' : undefined}>
      <Icon name={page.icon} />
      <span>{page.title}</span>
    </a>
  );
}

function Account(): JSX.Element | null {
  const who = session.value;
  if (who === undefined) return null;
  return (
    <div class="who">
      <p>
        <UntrustedText text={who.appName} clip />
        <span class="soft">
          <UntrustedText text={who.keyName} clip />
        </span>
      </p>
      <SignOutButton />
    </div>
  );
}

function BottomBar({ pages }: { pages: readonly PageRow[] }): JSX.Element {
  const isOpen = useSignal(false);
  const close = (): void => {
    isOpen.value = false;
  };
  return (
    <nav class="foot-bar" aria-label="Pages">
      {pages.slice(0, bottomBarPages).map((page) => (
        <NavLink key={page.path} page={page} />
      ))}
      <button type="button" class="nav-link" onClick={() => (isOpen.value = true)}>
        <Icon name="more" />
        <span>More</span>
      </button>
      {isOpen.value ? (
        <Dialog title="More" onClose={close}>
          <div class="more-pages" onClick={close}>
            {pages.slice(bottomBarPages).map((page) => (
              <NavLink key={page.path} page={page} />
            ))}
          </div>
          <div class="more-tools">
            <ThemeButton hasText />
          </div>
          <Account />
        </Dialog>
      ) : null}
    </nav>
  );
}
