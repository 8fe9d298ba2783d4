// Embeds the customer portal: shows the address in `data-ringback-portal` of an element in a frame inside it, as high
// as its content. Each address is good for one use, so write a new one into each page.
for (const place of document.querySelectorAll('[data-ringback-portal]')) {
  const url = new URL(place.dataset.ringbackPortal, location.href);
  const frame = document.createElement('iframe');
  frame.src = url.href;
  frame.title = place.dataset.title ?? 'Webhooks';
  frame.allow = 'clipboard-write';
  frame.style.cssText = 'display: block; width: 100%; height: 600px; border: 0';
  addEventListener('message', ({ data, origin, source }) => {
    if (source !== frame.contentWindow || origin !== url.origin) return;
    if (data?.type !== 'ringback:height' || !Number.isFinite(data.height)) return;
    frame.style.height = `${Math.max(320, data.height)}px`;
  });
  place.replaceChildren(frame);
}
