// Every page, drawer and dialog with real data, on a desk and on phones, light and dark: nothing scrolls
// sideways, no text is cut, and the browser has nothing to complain about.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { layoutFaults } from './layout-faults.ts';
import { nothingShown, openScene, type Scene, type Shown } from './scene.ts';
import { firstRunView, settled, showView, signInView, views, type View } from './views.ts';
import { windows, type Window } from './windows.ts';

describe('every page', () => {
  let scene: Scene;
  let shown: Shown;
  before(async () => {
    scene = await openScene();
  });
  after(async () => scene[Symbol.asyncDispose]());

  for (const window of windows) {
    const { width, options } = window;
    it(`lies well before the first event, ${width} px wide`, async () => {
      const as = 'nobody';
      await scene.stage.visit(
        async (page) => look(page, signInView, { window, shown: nothingShown }),
        {
          ...options,
          as,
        },
      );
      await scene.stage.visit(
        async (page) => look(page, firstRunView, { window, shown: nothingShown }),
        options,
      );
    });
  }

  for (const window of windows) {
    const { width, options } = window;
    it(`lies well after an hour, ${width} px wide`, async () => {
      shown ??= await scene.play();
      await scene.stage.visit(async (page) => {
        for (const view of views) await look(page, view, { window, shown });
      }, options);
    });
  }

  it('is known to lie badly when it does', async () => {
    const spoil = (): void => {
      const wide = document.createElement('p');
      wide.textContent = 'x'.repeat(2_000);
      const low = document.createElement('p');
      low.textContent = 'cut';
      low.className = 'low';
      document.querySelector('main')?.append(wide, low);
      low.style.height = '5px';
      low.style.overflow = 'hidden';
    };
    const play = async (page: Page): Promise<void> => {
      await showView(page, signInView, nothingShown);
      assert.deepEqual(await layoutFaults(page), []);
      await page.evaluate(spoil);
      const faults = (await layoutFaults(page)).join('\n');
      assert.match(faults, /the document scrolls sideways/);
      assert.match(faults, /cut at its foot: <p class="low">/);
    };
    await scene.stage.visit(play, { as: 'nobody' });
  });
});

async function look(
  page: Page,
  view: View,
  { window, shown }: { window: Window; shown: Shown },
): Promise<void> {
  await showView(page, view, shown);
  const height = window.options.viewport?.height ?? 0;
  for (const colorScheme of window.schemes) {
    await page.emulateMedia({ colorScheme });
    for (const width of new Set([window.width, window.narrowest])) {
      await page.setViewportSize({ width, height });
      await settled(page);
      const faults = await layoutFaults(page);
      assert.deepEqual(faults, [], `${view.name}, ${width} px, ${colorScheme}`);
    }
  }
  await page.setViewportSize({ width: window.width, height });
}
