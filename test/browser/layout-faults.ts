// Finds layout faults of a page: it scrolls sideways, or text is cut off.
import type { Page } from 'playwright-core';

/** One message per fault. */
export async function layoutFaults(page: Page): Promise<string[]> {
  return page.evaluate(findFaults);
}

/** Runs in the page, so it must be self-contained. */
function findFaults(): string[] {
  const faults: string[] = [];
  const name = (element: Element): string => {
    const text = (element.textContent ?? '').trim().slice(0, 40);
    const classes = element.getAttribute('class') ?? '';
    return `<${element.localName} class="${classes}"> "${text}"`;
  };
  const sizes = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }: Element): string =>
    `${scrollWidth}x${scrollHeight} in ${clientWidth}x${clientHeight}`;
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth)
    faults.push(`the document scrolls sideways: ${sizes(root)}`);
  const top = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
  const off = '.off-screen, .skip-link, .icon, option, datalist, script';
  const scrollers = 'pre, textarea, [data-scrolls]';
  for (const element of top.querySelectorAll('*')) {
    if (element.closest(off) !== null || !element.checkVisibility()) continue;
    if ((element.textContent ?? '').trim() === '') continue;
    const style = getComputedStyle(element);
    const isWide = element.scrollWidth > element.clientWidth;
    const isHigh = element.scrollHeight > element.clientHeight + 1;
    const hides = (overflow: string): boolean => overflow === 'hidden' || overflow === 'clip';
    const isMeant =
      (style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none') &&
      element.closest('[title]') !== null;
    const isBox = element.clientWidth > 0;
    if (isBox && !isMeant && hides(style.overflowX) && isWide) {
      faults.push(`cut at its side: ${name(element)} ${sizes(element)}`);
    }
    if (isBox && !isMeant && hides(style.overflowY) && isHigh) {
      faults.push(`cut at its foot: ${name(element)} ${sizes(element)}`);
    }
    const scrolls = style.overflowX === 'auto' || style.overflowX === 'scroll';
    if (scrolls && isWide && element.closest(scrollers) === null) {
      faults.push(`scrolls sideways: ${name(element)} ${sizes(element)}`);
    }
    if (element instanceof HTMLSelectElement && element.title === '') {
      const { paddingLeft, paddingRight, font } = style;
      const pen = document.createElement('canvas').getContext('2d');
      if (pen !== null) pen.font = font;
      const needed = pen?.measureText(element.selectedOptions[0]?.text ?? '').width ?? 0;
      const room =
        element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
      if (needed > room + 1) faults.push(`cut in its field: ${name(element)} ${needed} in ${room}`);
    }
    // Visible text that overflows the window or the box of its control.
    const box = element.getBoundingClientRect();
    if (element.children.length === 0 && box.right > root.clientWidth + 1) {
      const inScroller = element.closest(`${scrollers}, [title]`) !== null;
      if (!inScroller) faults.push(`leaves the window: ${name(element)} to ${box.right}`);
    }
    if (element.matches('button, .button, .badge') && isBox && (isWide || isHigh)) {
      faults.push(`is too small for its text: ${name(element)} ${sizes(element)}`);
    }
  }
  return faults;
}
