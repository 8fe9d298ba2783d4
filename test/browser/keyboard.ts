// Uses a page with the keyboard only.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

/** Reaches the target by Tab, and presses Enter. */
export async function act(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press('Enter');
}

const pressesMax = 80;

/** Presses Tab until the target has the focus. Each stop on the way must show its focus. */
export async function tabTo(
  page: Page,
  target: Locator,
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < pressesMax; presses += 1) {
    if (await target.evaluate((one) => one === document.activeElement)) return;
    await page.keyboard.press(key);
    const unseen = await page.evaluate(unseenFocus);
    assert.equal(unseen, undefined, 'the focus must be visible');
  }
  throw new Error(`Cannot reach ${String(target)} with ${key}`);
}

/** Runs in the page: the focused element, if its focus is not visible. */
function unseenFocus(): string | undefined {
  const at = document.activeElement;
  if (at === null || at === document.body || at.localName === 'dialog') return undefined;
  const style = getComputedStyle(at);
  const isOutlined = style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= 1;
  const { width, height, bottom, right } = at.getBoundingClientRect();
  const isInSight = width > 1 && height > 1 && bottom > 0 && right > 0;
  return isOutlined && isInSight ? undefined : at.outerHTML.slice(0, 200);
}
