// In a frame: reports the height of the content, so that the page around it can make the frame as high. Such a frame
// may be higher than the window, so dialogs and messages are placed in the part of it that is in sight.

export const isFramed = window.parent !== window;

export function startFrame(): void {
  if (!isFramed) return;
  document.documentElement.classList.add('framed');
  new ResizeObserver(() => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    // Any page may know the height; which ones may embed this page is decided by the policy of the service.
    window.parent.postMessage({ type: 'ringback:height', height }, '*');
  }).observe(document.body);
  for (const use of ['pointerdown', 'keydown', 'focusin']) addEventListener(use, noteSight);
}

/** Only an observer knows what of a frame is in sight; it reports once, within a frame of animation. */
function noteSight(): void {
  const { style } = document.documentElement;
  const observer = new IntersectionObserver(([seen]) => {
    observer.disconnect();
    if (seen === undefined) return;
    const { top, height } = seen.intersectionRect;
    style.setProperty('--sight-top', `${Math.round(top)}px`);
    style.setProperty('--sight-height', `${Math.round(height)}px`);
  });
  observer.observe(document.documentElement);
}
