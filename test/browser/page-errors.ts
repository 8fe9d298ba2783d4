// Whatever goes wrong in a page without anybody looking: errors in its console, exceptions, refusals of
// the content security policy, requests that fail or leave for another host.
import assert from 'node:assert/strict';
import type { BrowserContext, Page } from 'playwright-core';

export interface Faults {
  /** The test means this one to happen; that it does not happen is a fault, too. */
  expect: (pattern: RegExp) => void;
  /** Fails if there was any other. */
  check: () => Promise<void>;
}

/** Before the first page of the context is opened. */
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
    // A page that is left gives up what it was loading.
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

/** Pending reports of the page arrive in a task of their own, before this check. */
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
