// Converts between UTC in the address and the local time of a datetime-local field. Pure, except
// for the time zone of the browser.
/**
 * `2026-11-02T10:30`, as a datetime-local field expects it; empty for a missing or invalid time.
 */
export function toField(iso: string | undefined): string {
  const date = new Date(iso ?? '');
  if (Number.isNaN(date.getTime())) return '';
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function fromField(text: string): string | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
