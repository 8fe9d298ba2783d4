// The stage of browser tests: the service on its own port, a receiver for its callbacks, and one
// Chromium per file. Every test opens a fresh browser context.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { start, type StartOptions, type Started } from '../api/harness.ts';
import { receive, type Receiver } from '../e2e/receiver.ts';
import { buildConsole } from '../../tools/build-console.ts';
import { launch } from './chromium.ts';
import { watchFaults, type Faults } from './page-errors.ts';

export interface Stage extends AsyncDisposable {
  service: Started;
  receiver: Receiver;
  browser: Browser;
  /** Opens a page, plays, and fails if the page had any fault that the play did not expect. */
  visit: (play: Play, options?: VisitOptions) => Promise<void>;
}

export type Play = (page: Page, faults: Faults) => Promise<void>;

export interface VisitOptions extends BrowserContextOptions {
  /** `link` (default): signed in, on the overview. `guest`: signed out, on an empty page. */
  as?: 'link' | 'guest';
}

export async function openStage(options: StartOptions = {}): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  await buildConsole();
  const service = opened.use(await start(options));
  const receiver = opened.use(await receive());
  const browser = await launch();
  opened.defer(async () => browser.close());
  const stage = opened.move();
  return {
    service,
    receiver,
    browser,
    visit: async (play, visiting) => visit({ service, browser }, play, visiting),
    [Symbol.asyncDispose]: async () => stage.disposeAsync(),
  };
}

/** A safety net for tests that would hang: pages appear much sooner. */
const patienceMs = 180_000;

async function visit(
  { service, browser }: Pick<Stage, 'service' | 'browser'>,
  play: Play,
  { as = 'link', ...options }: VisitOptions = {},
): Promise<void> {
  const context = await browser.newContext({ baseURL: service.url, ...options });
  try {
    context.setDefaultTimeout(patienceMs);
    const faults = await watchFaults(context, new URL(service.url).origin);
    const page = await context.newPage();
    try {
      if (as === 'link') await openByLink(service, page);
      await play(page, faults);
    } catch (error) {
      throw new Error(await whatIsShown(page), { cause: error });
    }
    await faults.check();
  } finally {
    await context.close();
  }
}

/** Opens the printed link; the page is ready when it has removed the ticket from the URL. */
export async function openByLink(service: Started, page: Page): Promise<void> {
  const link = await service.signInLink();
  if (link === undefined) throw new Error('There is no key that may manage the app');
  await page.goto(link);
  await page.waitForURL((url) => url.hash === '');
  await page.getByRole('main').waitFor();
}

/** For the failure message: the address and content of the page. */
async function whatIsShown(page: Page): Promise<string> {
  const shown = await page
    .locator('body')
    .ariaSnapshot({ timeout: 1_000 })
    .catch((error: unknown) => String(error));
  return `The play failed at ${page.url()}, which showed:\n${shown}`;
}
