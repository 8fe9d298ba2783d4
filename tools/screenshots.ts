// Takes the pictures of docs/images from the real service with real data: every page, wide and
// narrow, light and dark. Fails if a page has a fault; writes only pictures.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { layoutFaults } from '../test/browser/layout-faults.ts';
import { nothingShown, openScene, type Shown } from '../test/browser/scene.ts';
import { windows, type Window } from '../test/browser/window-sizes.ts';
import { smallPng } from './small-png.ts';
import { settled, firstRunView, showView, signInView, views } from '../test/browser/views.ts';
import type { View } from '../test/browser/views.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, '..', 'docs', 'images');
const bytesMax = 150_000;
const allBytesMax = 4_000_000;

let allBytes = 0;
const faults: string[] = [];
await mkdir(folder, { recursive: true });
await using scene = await openScene();
const { stage } = scene;
for (const window of windows) {
  await stage.visit(
    async (page) => shoot(page, window, { view: signInView, shown: nothingShown }),
    {
      ...window.options,
      as: 'guest',
    },
  );
  await stage.visit(
    async (page) => shoot(page, window, { view: firstRunView, shown: nothingShown }),
    window.options,
  );
}
const shown = await scene.play();
for (const window of windows) {
  await stage.visit(async (page) => {
    for (const view of views) await shoot(page, window, { view, shown });
  }, window.options);
}
if (allBytes > allBytesMax) faults.push(`all pictures have ${allBytes} bytes`);
if (faults.length > 0) throw new Error(`The pages have faults:\n${faults.join('\n')}`);

async function shoot(
  page: Page,
  { width }: Window,
  { view, shown: ids }: { view: View; shown: Shown },
): Promise<void> {
  await showView(page, view, ids);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await settled(page);
    const name = `${view.name}-${width}-${colorScheme}.png`;
    for (const fault of await layoutFaults(page)) faults.push(`${name}: ${fault}`);
    const picture = smallPng(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
    allBytes += picture.length;
    if (picture.length > bytesMax) faults.push(`${name}: has ${picture.length} bytes`);
    await writeFile(join(folder, name), picture);
  }
}
