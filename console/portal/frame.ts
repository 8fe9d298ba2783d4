// In a frame: reports the height of the content, so that the page around it can make the frame as high. Such a frame
// may be higher than the window, so dialogs and messages appear near what the user pressed last.

export const isFramed = window.parent !== window;

export function startFrame(): void {
  if (!isFramed) return;
  const root = document.documentElement;
  root.classList.add('framed');
  new ResizeObserver(() => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    // Any page may know the height; that it can embed this one is decided by the policy of the service.
    window.parent.postMessage({ type: 'ringback:height', height }, '*');
  }).observe(document.body);
  for (const use of ['pointerdown', 'focusin']) {
    addEventListener(use, ({ target }) => {
      // Inside a dialog, positions are relative to where it already is.
      if (!(target instanceof Element) || target.closest('dialog') !== null) return;
      root.style.setProperty('--near', `${Math.round(target.getBoundingClientRect().top)}px`);
    });
  }
}
