// Each kind of fault is noticed: a test that no fault can make red would prove nothing.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { openStage, type Stage } from './stage.ts';

describe('faults of a page', () => {
  let on: Stage;
  before(async () => {
    on = await openStage();
  });
  after(async () => on[Symbol.asyncDispose]());

  /** What a page must never do, performed as an injected script would. */
  const misdeeds: Record<string, { play: (page: Page) => Promise<unknown>; says: RegExp }> = {
    'an error in the console': {
      play: async (page) => page.evaluate(() => console.error('oh no')),
      says: /console: oh no/,
    },
    'an exception': {
      play: async (page) =>
        page.evaluate(() => {
          setTimeout(() => {
            throw new Error('oh no');
          });
          return new Promise((resolve) => setTimeout(resolve, 1));
        }),
      says: /exception: Error: oh no/,
    },
    'markup from a text': {
      play: async (page) =>
        page.evaluate(() => {
          try {
            document.body.innerHTML = '<b>text</b>';
          } catch {
            // Refused, and reported.
          }
        }),
      says: /content security policy: require-trusted-types-for refused trusted-types-sink/,
    },
    'a style of an element': {
      play: async (page) => page.evaluate(() => document.body.setAttribute('style', 'color: red')),
      says: /content security policy: style-src-attr refused inline/,
    },
    'a request to another host': {
      play: async (page) =>
        page.evaluate(async () => fetch('https://elsewhere.example/').catch(() => undefined)),
      says: /content security policy: connect-src refused https:\/\/elsewhere\.example/,
    },
  };
  misdeeds['a way to another host'] = {
    play: async (page) => page.goto(on.receiver.url),
    says: /request to another host: http:/,
  };
  for (const [name, { play, says }] of Object.entries(misdeeds)) {
    it(`are noticed: ${name}`, async () => {
      const visit = on.visit(
        async (page) => {
          await page.goto('/console/sign-in');
          await signInReady(page);
          await play(page);
        },
        { as: 'guest' },
      );
      await assert.rejects(visit, (error) => says.test(String(error)));
    });
  }

  it('are noticed: one that was expected and did not happen', async () => {
    const visit = on.visit(async (_page, faults) => faults.expect(/never/), { as: 'guest' });
    await assert.rejects(visit, /faults that were expected/);
  });

  async function signInReady(page: Page): Promise<void> {
    await page.locator('#console > *').first().waitFor();
  }
});
