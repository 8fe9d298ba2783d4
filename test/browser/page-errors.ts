// Detects faults of a page that tests do not look for: errors in its console, exceptions, violations of the
// content security policy, failed requests, and requests to another host.
import assert from 'node:assert/strict';
import type { BrowserContext, Page } from 'playwright-core';

export interface Faults {
  /** The test expects this fault; its absence is a fault, too. */
  expect: (pattern: RegExp) => void;
  /** Fails on any other fault. */
  check: () => Promise<void>;
}

/** Must be called before the first page of the context is opened. */
export async function watchFaults(context: BrowserContext, origin: string): Promise<Faults> {
  const found: string[] = [];
  const expected: RegExp[] = [];
  await context.exposeBinding('ringbackViolation', (_source, text: string) => {
    found.push(`content security policy: ${text}`);
  });
  await context.addInitScript(reportViolations);
  context.on('request', (request) => {
    const url = new URL(request.url());
    const isInside = url.origin === origin || ['data:', 'blob:', 'about:'].includes(url.protocol);
    if (!isInside) found.push(`request to another host: ${request.url()}`);
  });
  context.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? 'unknown';
    // Leaving a page aborts its pending requests.
    if (why !== 'net::ERR_ABORTED') found.push(`request failed: ${request.url()}: ${why}`);
  });
  context.on('console', (message) => {
    if (message.type() !== 'error') return;
    found.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => {
    found.push(`exception: ${error.error().stack ?? String(error.error())}`);
  });
  context.on('page', (page: Page) => {
    page.on('crash', () => found.push(`crash: ${page.url()}`));
  });
  return {
    expect: (pattern) => void expected.push(pattern),
    check: async () => {
      await Promise.all(context.pages().map(settle));
      const left = found.filter((fault) => !expected.some((pattern) => pattern.test(fault)));
      assert.deepEqual(left, [], 'the page has faults');
      const idle = expected.filter((pattern) => !found.some((fault) => pattern.test(fault)));
      assert.deepEqual(idle, [], 'faults that were expected');
    },
  };
}

/** Lets pending reports of the page, which arrive in separate tasks, come before the check. */
async function settle(page: Page): Promise<void> {
  const isGone = (): undefined => undefined;
  await page.evaluate(async () => new Promise((resolve) => setTimeout(resolve))).catch(isGone);
}

/** Runs in the page, before any of its scripts. */
function reportViolations(): void {
  document.addEventListener('securitypolicyviolation', (event) => {
    const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = event;
    const place = `${sourceFile}:${lineNumber}`;
    const text = `${effectiveDirective} refused ${blockedURI} at ${place} ${sample}`;
    const report: unknown = Reflect.get(globalThis, 'ringbackViolation');
    if (typeof report === 'function') report(text);
  });
}
